/** Waits until `condition` holds; the test's own timeout ends a wait for ever. */
export declare function until(condition: () => boolean | Promise<boolean>): Promise<void>;
//# sourceMappingURL=until.d.ts.map