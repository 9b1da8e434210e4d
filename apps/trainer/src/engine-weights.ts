import { z } from 'zod';
import { UNKNOWN_WEIGHTS } from './core/weights-label';
import { EngineHttp, EngineRefusal } from './engine-http';

const SglangInfo = z.looseObject({ weight_version: z.string().nullish() });
const SglangUpdate = z.looseObject({ success: z.boolean(), message: z.string().nullish() });
const VllmInfo = z.looseObject({ weight_version: z.union([z.string(), z.number()]).nullish() });
const VllmPaused = z.looseObject({ is_paused: z.boolean() });
const VllmFlush = z.looseObject({ success: z.literal(false) });

/** The only weights that an engine has, where they have no name of their own: what they are labelled, and how they are replaced. */
export interface EngineWeights {
  /** The label that the last update gave them; what the engine says of weights that it was started with, or `null`. */
  label(): Promise<string | null>;
  /**
   * Replaces them by those in a folder that the engine sees. Answers under way finish on the old ones, further requests wait, and the prefix
   * cache is emptied: what it holds was computed by the old ones. After a failure the label says that they are unknown.
   */
  replace(path: string, label: string): Promise<void>;
}

/** SGLang: `/update_weights_from_disk`, whose lock waits for the running requests. Needs a server whose model info has `weight_version`. */
export class SglangWeights implements EngineWeights {
  constructor(
    private readonly http: EngineHttp,
    private readonly updateTimeoutMs: number,
  ) {}

  async label(): Promise<string | null> {
    const { root } = this.http;
    const info = await this.http.call('GET', `${root}/model_info`).catch(async (error: unknown) => {
      // Its older name.
      if (error instanceof EngineRefusal && error.status === 404)
        return await this.http.call('GET', `${root}/get_model_info`);
      throw error;
    });
    return this.http.parse(SglangInfo, info).weight_version ?? null;
  }

  async replace(path: string, label: string): Promise<void> {
    const { root } = this.http;
    try {
      const body = { model_path: path, flush_cache: true, weight_version: label };
      const reply = await this.http.call('POST', `${root}/update_weights_from_disk`, body, this.updateTimeoutMs);
      const { success, message } = this.http.parse(SglangUpdate, reply);
      if (!success) throw new EngineRefusal(message ?? 'the engine kept its old weights', null);
    } catch (error) {
      const body = { new_version: UNKNOWN_WEIGHTS, abort_all_requests: false };
      await this.http.call('POST', `${root}/update_weight_version`, body).catch(() => undefined);
      throw error;
    }
  }
}

/**
 * vLLM with `VLLM_SERVER_DEV_MODE=1`: pause, `reload_weights` on every worker, resume. Needs `/update_weight_version` and `/weight_info`
 * (vllm-project/vllm #49040; 0.29 has them). `/reset_prefix_cache` of today's servers does not say whether it worked: it does, for nothing is
 * under way then. An engine whose update failed stays paused: its weights may be half old and half new.
 */
export class VllmWeights implements EngineWeights {
  constructor(
    private readonly http: EngineHttp,
    private readonly updateTimeoutMs: number,
  ) {}

  async label(): Promise<string | null> {
    // Whoever paused it may have died in the middle of an update.
    const { is_paused: isPaused } = this.http.parse(VllmPaused, await this.get('is_paused'));
    if (isPaused) return UNKNOWN_WEIGHTS;
    const { weight_version: label } = this.http.parse(VllmInfo, await this.get('weight_info'));
    return label === null || label === undefined ? null : String(label);
  }

  async replace(path: string, label: string): Promise<void> {
    try {
      await this.post('pause?mode=wait&clear_cache=true', {});
    } catch (error) {
      await this.post('resume', {}).catch(() => undefined);
      throw error;
    }
    try {
      await this.post('collective_rpc', { method: 'reload_weights', kwargs: { weights_path: path } });
      const flushed = await this.post('reset_prefix_cache', {});
      if (VllmFlush.safeParse(flushed).success)
        throw new EngineRefusal('the engine did not empty its prefix cache', null);
      await this.post('update_weight_version', { new_version: label });
    } catch (error) {
      await this.post('update_weight_version', { new_version: UNKNOWN_WEIGHTS }).catch(() => undefined);
      throw error;
    }
    await this.post('resume', {});
  }

  private async get(path: string): Promise<unknown> {
    return await this.http.call('GET', `${this.http.root}/${path}`);
  }

  private async post(path: string, body: object): Promise<unknown> {
    return await this.http.call('POST', `${this.http.root}/${path}`, body, this.updateTimeoutMs);
  }
}
