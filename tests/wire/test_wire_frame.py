"""Headers and frames, against bytes written out by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.codec import decode, encode
from penstock.protocol.frame import (
    API_BY_KEY,
    API_BY_NAME,
    UnsupportedVersion,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from penstock.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from penstock.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.protocol.messages.header import RequestHeader, ResponseHeader
from penstock.protocol.messages.heartbeat import HeartbeatResponse
from penstock.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.request_kit import decode_request

METADATA_9_HEADER = bytes.fromhex("0003 0009 00000007 0002 6d65 00")
METADATA_1_HEADER = bytes.fromhex("0003 0001 00000007 ffff")


class FileSlice:
    """Stands for a range of a file that only the socket will read."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def test_request_header_golden_bytes() -> None:
    header = RequestHeader(
        request_api_key=3, request_api_version=9, correlation_id=7, client_id="me"
    )
    assert encode(header, 2) == METADATA_9_HEADER
    assert encode(header, 1) == METADATA_9_HEADER[:-1]
    header.client_id = ""
    assert encode(header, 0) == METADATA_9_HEADER[:8]
    assert decode(RequestHeader, 1, METADATA_1_HEADER)[0].client_id is None


def test_response_header_golden_bytes() -> None:
    assert encode(ResponseHeader(correlation_id=7), 0) == b"\0\0\0\7"
    assert encode(ResponseHeader(correlation_id=7), 1) == b"\0\0\0\7\0"


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_decode_request_header_by_api_and_version(wrap: type[bytes]) -> None:
    header, pos = decode_request_header(wrap(METADATA_9_HEADER + b"body"))
    assert (header.request_api_key, header.request_api_version) == (3, 9)
    assert (header.correlation_id, header.client_id, pos) == (7, "me", len(METADATA_9_HEADER))
    header, pos = decode_request_header(wrap(METADATA_1_HEADER + b"body"))
    assert (header.client_id, pos) == (None, 10)


def test_header_tags_are_skipped() -> None:
    frame = METADATA_9_HEADER[:-1] + bytes.fromhex("02 00 01 ff 05 02 aabb") + b"body"
    _, pos = decode_request_header(frame)
    assert frame[pos:] == b"body"


@pytest.mark.parametrize("size", range(len(METADATA_9_HEADER)))
def test_truncated_header(size: int) -> None:
    with pytest.raises(ProtocolError):
        decode_request_header(METADATA_9_HEADER[:size])


@pytest.mark.parametrize("frame", ["7fff 0000 00000001 ffff", "0003 0009 00000001 fffe 00"])
def test_header_that_makes_no_sense(frame: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_request_header(bytes.fromhex(frame))
    assert not isinstance(caught.value, UnsupportedVersion)


@pytest.mark.parametrize("rest", ["", "ff", "ffff", "0002 6d65 00", "7fff", "ffffffffffff"])
def test_api_versions_of_the_future_still_tells_whom_to_answer(rest: str) -> None:
    with pytest.raises(UnsupportedVersion) as caught:
        decode_request_header(bytes.fromhex("0012 0063 0000002a" + rest))
    header = caught.value.header
    assert (header.request_api_key, header.request_api_version) == (18, 99)
    answer = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=18, min_version=0, max_version=4)],
    )
    assert encode_response(header.correlation_id, 18, 0, answer) == [
        bytes.fromhex("00000010 0000002a 0023 00000001 0012 0000 0004")
    ]


def test_produce_before_3_is_known_but_not_spoken() -> None:
    produce = API_BY_NAME["Produce"]
    assert (produce.min_version, produce.advertised_min_version) == (3, 0)
    assert API_BY_KEY[3].advertised_min_version == API_BY_KEY[3].min_version
    with pytest.raises(UnsupportedVersion):
        decode_request_header(bytes.fromhex("0000 0002 0000002a ffff"))


def test_latest_version_unstable() -> None:
    spec = API_BY_NAME["InitProducerId"]
    assert spec.latest_version_unstable
    assert spec.max_stable_version == spec.max_version - 1
    assert API_BY_NAME["Fetch"].max_stable_version == API_BY_NAME["Fetch"].max_version


def test_api_versions_response_keeps_header_0() -> None:
    (frame,) = encode_response(42, 18, 4, ApiVersionsResponse())
    assert frame == bytes.fromhex("0000000c 0000002a 0000 01 00000000 00")
    (frame,) = encode_response(42, 12, 4, HeartbeatResponse())
    assert frame == bytes.fromhex("0000000c 0000002a 00 00000000 0000 00")
    (frame,) = encode_response(42, 12, 0, HeartbeatResponse())
    assert frame == bytes.fromhex("00000006 0000002a 0000")


@pytest.mark.parametrize("version", [0, 8, 9, 13])
def test_request_and_response_frames_come_back(version: int) -> None:
    frame = encode_request(5, version, MetadataRequest(), "client")
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, body = decode_request(frame[4:])
    assert (header.correlation_id, header.client_id) == (5, "client")
    assert isinstance(body, MetadataRequest)
    (answer,) = encode_response(5, 3, version, MetadataResponse())
    assert isinstance(answer, bytes)
    assert decode_response(3, version, answer[4:]) == (5, MetadataResponse())


@pytest.mark.parametrize("version", [4, 11, 12, 18])
def test_records_pass_through_untouched(version: int) -> None:
    first, last = FileSlice(1_000), memoryview(b"r" * 200)
    partitions = [
        PartitionData(partition_index=0, records=first),
        PartitionData(partition_index=1, records=None),
        PartitionData(partition_index=2, records=b""),
        PartitionData(partition_index=3, records=last),
    ]
    message = FetchResponse(responses=[FetchableTopicResponse(partitions=partitions)])
    parts = encode_response(9, 1, version, message)
    assert parts[1] is first
    assert parts[3] is last
    assert len(parts) in (4, 5)
    flat = b"".join(bytes(len(p)) if p is first else p for p in parts)  # type: ignore[misc]
    assert int.from_bytes(flat[:4], "big") == len(flat) - 4
    correlation_id, body = decode_response(1, version, flat[4:])
    assert correlation_id == 9
    assert isinstance(body, FetchResponse)
    found = [partition.records for partition in body.responses[0].partitions]
    assert found == [bytes(1_000), None, b"", last]
    assert isinstance(found[0], memoryview)


def test_body_of_api_versions_request() -> None:
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    assert encode(request, 3) == bytes.fromhex("02 78 02 31 00")
    assert encode(request, 0) == b""


def test_importing_frames_loads_no_api_module() -> None:
    code = (
        "import sys, penstock.protocol.frame, penstock.protocol.record_frame\n"
        "print([m for m in sys.modules if m.startswith('penstock.protocol.messages.')])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert output.decode().strip() == "['penstock.protocol.messages.header']"
