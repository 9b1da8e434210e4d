"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.until = until;
const promises_1 = require("node:timers/promises");
/** Waits until `condition` holds; the test's own timeout ends a wait for ever. */
async function until(condition) {
    while (!(await condition()))
        await (0, promises_1.setTimeout)(20);
}
//# sourceMappingURL=until.js.map