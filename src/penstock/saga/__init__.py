"""The order saga: five services that agree through events, and a checker that proves it."""
