"""Prints what TensorBoard's own reader finds in a folder of events, as JSON: `python tools/reference/read-tensorboard.py FOLDER`.

`plugins`: the plugin that shows a tag; `scalars`: [step, wall time, value] by tag; `histograms`: [step, [[left, right, count], …]] by tag.
Scalars are read twice, as the classic accumulator has them and as the plugins of today's TensorBoard get them, and must agree. Needs the
package `tensorboard`.
"""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator as PluginAccumulator
from tensorboard.util.tensor_util import make_ndarray

folder = sys.argv[1]
everything = {"scalars": 0, "histograms": 0, "tensors": 0}

classic = EventAccumulator(folder, size_guidance=everything)
classic.Reload()
scalars = {tag: [[e.step, e.wall_time, e.value] for e in classic.Scalars(tag)] for tag in classic.Tags()["scalars"]}

modern = PluginAccumulator(folder, size_guidance={"tensors": 0}, tensor_size_guidance={"scalars": 0, "histograms": 0})
modern.Reload()
plugins = {}
histograms = {}
for tag in modern.Tags()["tensors"]:
    plugin = modern.SummaryMetadata(tag).plugin_data.plugin_name
    plugins[tag] = plugin
    events = [(e.step, e.wall_time, make_ndarray(e.tensor_proto)) for e in modern.Tensors(tag)]
    if plugin == "scalars":
        assert [[step, time, value.item()] for step, time, value in events] == scalars[tag], tag
    if plugin == "histograms":
        histograms[tag] = [[step, value.tolist()] for step, _, value in events]

print(json.dumps({"plugins": plugins, "scalars": scalars, "histograms": histograms}))
