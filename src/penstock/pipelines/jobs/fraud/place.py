"""Where countries lie, as far as the travel rule needs it: a centre and a radius for each."""

import math
from functools import cache

# Latitude, longitude, and the radius in km of a circle that covers most of where people pay.
_PLACES: dict[str, tuple[float, float, float]] = {
    "AE": (24.5, 54.5, 250),
    "AR": (-34.6, -62.0, 1200),
    "AT": (47.6, 14.1, 280),
    "AU": (-28.0, 140.0, 2000),
    "BE": (50.6, 4.6, 140),
    "BG": (42.7, 25.4, 250),
    "BR": (-15.0, -48.0, 1900),
    "CA": (48.0, -90.0, 2300),
    "CH": (46.8, 8.2, 180),
    "CL": (-33.5, -70.7, 1500),
    "CN": (32.0, 112.0, 1700),
    "CO": (4.6, -74.1, 600),
    "CY": (35.0, 33.2, 100),
    "CZ": (49.8, 15.5, 240),
    "DE": (51.1, 10.4, 430),
    "DK": (56.0, 10.0, 220),
    "EE": (58.7, 25.5, 180),
    "EG": (30.0, 31.2, 500),
    "ES": (40.2, -3.6, 550),
    "FI": (62.5, 26.0, 550),
    "FR": (46.6, 2.4, 540),
    "GB": (53.5, -2.0, 500),
    "GR": (38.5, 23.5, 350),
    "HK": (22.3, 114.2, 40),
    "HR": (45.2, 16.0, 250),
    "HU": (47.2, 19.4, 250),
    "ID": (-4.0, 112.0, 1800),
    "IE": (53.2, -7.8, 240),
    "IL": (31.8, 34.9, 200),
    "IN": (21.0, 78.0, 1400),
    "IS": (64.9, -18.6, 250),
    "IT": (42.8, 12.1, 600),
    "JP": (36.0, 138.0, 1000),
    "KE": (-0.5, 37.5, 450),
    "KR": (36.4, 127.9, 250),
    "LT": (55.3, 23.9, 180),
    "LU": (49.8, 6.1, 40),
    "LV": (56.9, 24.9, 200),
    "MA": (33.0, -6.5, 500),
    "MT": (35.9, 14.4, 20),
    "MX": (21.5, -101.5, 1300),
    "MY": (3.5, 105.0, 900),
    "NG": (8.0, 7.0, 600),
    "NL": (52.2, 5.5, 150),
    "NO": (61.5, 9.5, 700),
    "NZ": (-40.5, 174.0, 700),
    "PE": (-10.0, -76.0, 800),
    "PH": (12.5, 122.5, 700),
    "PL": (52.0, 19.3, 350),
    "PT": (39.6, -8.2, 300),
    "RO": (45.9, 25.0, 330),
    "RS": (44.2, 20.8, 220),
    "SA": (24.3, 44.5, 800),
    "SE": (60.0, 15.5, 600),
    "SG": (1.35, 103.8, 30),
    "SI": (46.1, 14.8, 110),
    "SK": (48.7, 19.5, 200),
    "TH": (14.0, 101.0, 700),
    "TR": (39.3, 34.0, 700),
    "TW": (23.9, 121.0, 190),
    "UA": (49.0, 31.5, 600),
    "US": (39.0, -96.0, 2300),
    "VN": (16.0, 107.0, 800),
    "ZA": (-29.0, 25.5, 700),
}
_EARTH_RADIUS_KM = 6371.0

COUNTRIES = tuple(_PLACES)


@cache
def distance_km(here: str, there: str) -> float:
    """The shortest distance between two countries: zero for neighbours, or if one is not known."""
    if here == there or here not in _PLACES or there not in _PLACES:
        return 0.0
    latitude, longitude, radius_km = _PLACES[here]
    other_latitude, other_longitude, other_radius_km = _PLACES[there]
    way_km = _great_circle_km(latitude, longitude, other_latitude, other_longitude)
    return max(0.0, way_km - radius_km - other_radius_km)


def _great_circle_km(latitude: float, longitude: float, to_latitude: float, to: float) -> float:
    a, b = math.radians(latitude), math.radians(to_latitude)
    half = math.radians(to - longitude) / 2
    square = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(half) ** 2
    return 2 * _EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(square)))
