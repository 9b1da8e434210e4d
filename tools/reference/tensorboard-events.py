"""Writes records of TensorBoard events with TensorBoard's own writer: `python tools/reference/tensorboard-events.py`.

Prints `apps/trainer/src/core/event-file-reference.json`. Needs the package `tensorboard`.
"""

import io
import json

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def record(event):
    class Kept(io.BytesIO):
        def close(self):
            pass

    out = Kept()
    writer = RecordWriter(out)
    writer.write(event.SerializeToString())
    writer.flush()
    return out.getvalue().hex()


histogram = summary_pb2.HistogramProto(
    min=-1, max=2, num=4, sum=2.5, sum_squares=7.25, bucket_limit=[0.5, 2], bucket=[1, 3]
)
step = event_pb2.Event(
    wall_time=1700000000.25,
    step=123456,
    summary=summary_pb2.Summary(
        value=[
            summary_pb2.Summary.Value(tag="loss/total", simple_value=-0.125),
            summary_pb2.Summary.Value(tag="grad_norm", simple_value=3.5),
            summary_pb2.Summary.Value(tag="advantage", histo=histogram),
        ]
    ),
)
restart = event_pb2.Event(
    wall_time=1700000000.25,
    step=300,
    session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START),
)
version = event_pb2.Event(wall_time=1700000000.25, file_version="brain.Event:2")
print(json.dumps({"version": record(version), "restart": record(restart), "step": record(step)}, indent=2))
