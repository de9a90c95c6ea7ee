"""Load process: small transactions over one connection, without a client library in the way."""

from __future__ import annotations

import gc
import socket
import time
from typing import Any

from bench.load.child import Spec, serve
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record

FIND, INIT, PRODUCE, END = 6, 5, 12, 5
TRANSACTION = 1
TIMEOUT_MS = 60_000
RETRY_S = 0.05
# The coordinator is still writing the markers of the one before.
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


class Transactor:
    def __init__(self, spec: Spec) -> None:
        self._socket = socket.create_connection(("127.0.0.1", spec["port"]), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._id: str = spec["transactional_id"]
        self._topic: str = spec["topic"]
        self._sequence = 0
        self._begin()

    def _begin(self) -> None:
        find = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[self._id])
        while self._call(find, FIND).coordinators[0].error_code:
            time.sleep(RETRY_S)
        ask = InitProducerIdRequest(transactional_id=self._id, transaction_timeout_ms=TIMEOUT_MS)
        while (answer := self._call(ask, INIT)).error_code:
            time.sleep(RETRY_S)
        self._producer, self._epoch = answer.producer_id, answer.producer_epoch

    def commit(self) -> float:
        """One transaction of one record; the seconds from asking for its end to the answer."""
        self._produce()
        end = EndTxnRequest(
            transactional_id=self._id,
            producer_id=self._producer,
            producer_epoch=self._epoch,
            committed=True,
        )
        began = time.perf_counter()
        answer = self._call(end, END)
        elapsed = time.perf_counter() - began
        if answer.error_code:
            raise RuntimeError(f"a transaction did not end: error code {answer.error_code}")
        # The next one is in another epoch (KIP-890), where sequences begin anew.
        self._producer, self._epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0
        return elapsed

    def _produce(self) -> None:
        batch = build_batch(
            [Record(0, time.time_ns() // 1_000_000, None, b"x" * 100, [])],
            producer_id=self._producer,
            producer_epoch=self._epoch,
            base_sequence=self._sequence,
            is_transactional=True,
        )
        data = [PartitionProduceData(index=0, records=bytes(batch))]
        request = ProduceRequest(
            transactional_id=self._id,
            acks=-1,
            timeout_ms=TIMEOUT_MS,
            topic_data=[TopicProduceData(name=self._topic, partition_data=data)],
        )
        while True:
            answer = self._call(request, PRODUCE).responses[0].partition_responses[0]
            if answer.error_code != BUSY:
                break
        if answer.error_code:
            raise RuntimeError(f"a record was not taken: error code {answer.error_code}")

    def _call(self, request: Entity, version: int) -> Any:
        self._socket.sendall(encode_request(1, version, request, "bench"))
        size = int.from_bytes(self._exactly(4), "big")
        assert request.API_KEY is not None
        return decode_response(request.API_KEY, version, self._exactly(size))[1]

    def _exactly(self, size: int) -> bytes:
        data = self._socket.recv(size, socket.MSG_WAITALL)
        if len(data) < size:
            raise ConnectionError("the broker closed the connection")
        return data

    def close(self) -> None:
        self._socket.close()


def end_txn(spec: Spec) -> Spec:
    transactor = Transactor(spec)
    gc.disable()
    for _ in range(spec["warmup"]):
        transactor.commit()
    times = sorted(transactor.commit() for _ in range(spec["count"]))
    transactor.close()
    return {"p50_ms": 1e3 * times[len(times) // 2], "p99_ms": 1e3 * times[int(len(times) * 0.99)]}


if __name__ == "__main__":
    serve(end_txn)
