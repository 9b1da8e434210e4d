import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readJson, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';
import type { HostTensor } from './host-tensor';
import { SafetensorsFile } from './safetensors-file';
import type { ElementType } from './safetensors-header';
import { weightShapes } from './weight-shapes';

export const INDEX = 'model.safetensors.index.json';
export const SINGLE = 'model.safetensors';

const EMBEDDING = 'model.embed_tokens.weight';
const HEAD = 'lm_head.weight';

const IndexFile = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

/**
 * The weights of a model directory, sharded or not, one by one. Each is checked against the configuration when the directory is
 * opened: there, float, of its shape. What the forward pass does not read (rotation buffers) is left alone.
 */
export class Checkpoint {
  private constructor(
    private readonly dir: string,
    private readonly files: readonly SafetensorsFile[],
    private readonly places: ReadonlyMap<string, SafetensorsFile>,
  ) {}

  /** Reads the headers only. Throws a ModelFormatError for what is missing, of another shape, or twice. */
  static async open(dir: string, config: LlamaConfig): Promise<Checkpoint> {
    const files: SafetensorsFile[] = [];
    try {
      const places = await openFiles(dir, files);
      const checkpoint = new Checkpoint(dir, files, places);
      checkpoint.check(config);
      if (config.tieWordEmbeddings && places.has(HEAD)) await checkpoint.assertTied();
      return checkpoint;
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  /** A weight, as float32. */
  async read(name: string): Promise<HostTensor & { dtype: 'float32' }> {
    const tensor = await this.place(name).read(name);
    if (tensor.dtype !== 'float32') throw new ModelFormatError(this.dir, `weight ${name} is ${tensor.dtype}`);
    return tensor;
  }

  /** What the file holds a weight as. */
  typeOf(name: string): ElementType {
    return this.place(name).entries.get(name)!.type;
  }

  async close(): Promise<void> {
    for (const file of this.files) await file.close();
  }

  private place(name: string): SafetensorsFile {
    const file = this.places.get(name);
    if (!file) throw new ModelFormatError(this.dir, `weight ${name} is missing`);
    return file;
  }

  private check(config: LlamaConfig): void {
    for (const [name, shape] of weightShapes(config)) {
      const { type, shape: found } = this.place(name).entries.get(name)!;
      if (type === 'I32') throw new ModelFormatError(this.dir, `weight ${name} is int32`);
      if (String(found) !== String(shape))
        throw new ModelFormatError(
          this.dir,
          `weight ${name} is [${found.join(', ')}], config.json says [${shape.join(', ')}]`,
        );
    }
  }

  /** Some checkpoints hold the tied head a second time. One that differs is used by some engines and not by others. */
  private async assertTied(): Promise<void> {
    const [embedding, head] = [this.place(EMBEDDING), this.place(HEAD)];
    const differ = (): never => {
      throw new ModelFormatError(this.dir, `${HEAD} differs from ${EMBEDDING}, but tie_word_embeddings is true`);
    };
    const [a, b] = [embedding.entries.get(EMBEDDING)!, head.entries.get(HEAD)!];
    if (a.type !== b.type || String(a.shape) !== String(b.shape)) differ();
    const others = head.pieces(HEAD);
    for await (const { bytes } of embedding.pieces(EMBEDDING)) {
      const other = await others.next();
      if (other.done || Buffer.compare(bytes, other.value.bytes) !== 0) differ();
    }
  }
}

/** Opens every file of the directory into `files`; which one holds each tensor. */
async function openFiles(dir: string, files: SafetensorsFile[]): Promise<Map<string, SafetensorsFile>> {
  const places = new Map<string, SafetensorsFile>();
  const index = join(dir, INDEX);
  if (!existsSync(index)) {
    const file = await SafetensorsFile.open(join(dir, SINGLE));
    files.push(file);
    for (const name of file.entries.keys()) places.set(name, file);
    return places;
  }
  const parsed = IndexFile.safeParse(await readJson(index));
  if (!parsed.success) throw new ModelFormatError(index, 'weight_map is not an object of file names');
  const weightMap = new Map(Object.entries(parsed.data.weight_map));
  const names = new Set(weightMap.values());
  for (const name of names)
    if (name !== basename(name) || name === '..' || name === '.')
      throw new ModelFormatError(index, `${JSON.stringify(name)} is not the name of a file in this folder`);
  for (const fileName of names) {
    const file = await SafetensorsFile.open(join(dir, fileName));
    files.push(file);
    for (const name of file.entries.keys()) {
      if (weightMap.get(name) !== fileName)
        throw new ModelFormatError(index, `places ${name} in ${weightMap.get(name)}, but ${fileName} holds it`);
      places.set(name, file);
    }
  }
  for (const [name, fileName] of weightMap)
    if (!places.has(name)) throw new ModelFormatError(index, `places ${name} in ${fileName}, which does not hold it`);
  return places;
}
