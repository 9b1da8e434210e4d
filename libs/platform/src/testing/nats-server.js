"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.startNatsServer = startNatsServer;
exports.freePort = freePort;
const node_child_process_1 = require("node:child_process");
const node_events_1 = require("node:events");
const node_fs_1 = require("node:fs");
const node_net_1 = require("node:net");
const node_os_1 = require("node:os");
const node_path_1 = require("node:path");
const promises_1 = require("node:timers/promises");
/** A real nats-server with JetStream on a free port, `max_payload` 8 MiB, its store in a temporary folder. */
async function startNatsServer(options = {}) {
    const folder = (0, node_fs_1.mkdtempSync)((0, node_path_1.join)((0, node_os_1.tmpdir)(), 'hindcast-nats-'));
    const port = options.port ?? (await freePort());
    let generation = 0;
    const configure = () => {
        const file = (0, node_path_1.join)(folder, 'nats.conf');
        (0, node_fs_1.writeFileSync)(file, `listen: 127.0.0.1:${port}\nmax_payload: 8388608\njetstream { store_dir: "${(0, node_path_1.join)(folder, String(generation))}" }\n`);
        return file;
    };
    let child = await launch(configure(), port);
    const kill = async (signal) => {
        if (child.exitCode !== null || child.signalCode !== null)
            return;
        const gone = (0, node_events_1.once)(child, 'exit');
        child.kill(signal);
        await gone;
    };
    return {
        url: `nats://127.0.0.1:${port}`,
        port,
        get pid() {
            return child.pid;
        },
        stop: async () => {
            await kill('SIGKILL');
            (0, node_fs_1.rmSync)(folder, { recursive: true, force: true, maxRetries: 3 });
        },
        kill: () => kill('SIGKILL'),
        restart: async ({ empty = false } = {}) => {
            await kill('SIGKILL');
            if (empty)
                generation++;
            child = await launch(configure(), port);
        },
    };
}
/** A port that nothing listens on at this moment. */
async function freePort() {
    const server = (0, node_net_1.createServer)().listen(0, '127.0.0.1');
    await (0, node_events_1.once)(server, 'listening');
    const { port } = server.address();
    server.close();
    await (0, node_events_1.once)(server, 'close');
    return port;
}
async function launch(config, port) {
    const child = (0, node_child_process_1.spawn)('nats-server', ['-c', config], { stdio: 'ignore' });
    const failed = (0, node_events_1.once)(child, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => undefined);
    while (!(await Promise.race([answers(port), failed]))) {
        if (child.exitCode !== null)
            throw new Error(`nats-server ended with ${child.exitCode}`);
        await (0, promises_1.setTimeout)(20);
    }
    return child;
}
async function answers(port) {
    const socket = (0, node_net_1.connect)(port, '127.0.0.1');
    try {
        await (0, node_events_1.once)(socket, 'data');
        return true;
    }
    catch {
        return false;
    }
    finally {
        socket.destroy();
    }
}
//# sourceMappingURL=nats-server.js.map