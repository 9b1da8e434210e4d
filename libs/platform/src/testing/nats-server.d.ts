export interface NatsServer {
    readonly url: string;
    readonly port: number;
    readonly pid: number;
    /** Ends the server and removes its store. */
    stop(): Promise<void>;
    /** `kill -9`; the store stays. */
    kill(): Promise<void>;
    /** Starts it again on the same port: with its store, or with an empty one. */
    restart(options?: {
        empty?: boolean;
    }): Promise<void>;
}
/** A real nats-server with JetStream on a free port, `max_payload` 8 MiB, its store in a temporary folder. */
export declare function startNatsServer(options?: {
    port?: number;
}): Promise<NatsServer>;
/** A port that nothing listens on at this moment. */
export declare function freePort(): Promise<number>;
//# sourceMappingURL=nats-server.d.ts.map