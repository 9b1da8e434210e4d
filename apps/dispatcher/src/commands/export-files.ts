import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ExportRow } from './export-rows';
import { LineFile, partOf } from './output-file';

/** What a column holds; `ids` and `log-probs` are lists of int32 and float32. Any value may be missing, which is `null`. */
export interface Column {
  readonly name: string;
  readonly type: 'text' | 'int' | 'number' | 'time' | 'json' | 'ids' | 'log-probs';
}

/** Writes the rows and returns how many there were. The file is there whole or not at all. */
export type WriteRows = (path: string, columns: readonly Column[], rows: AsyncIterable<ExportRow>) => Promise<number>;

export const writeJsonLines: WriteRows = async (path, columns, rows) => {
  const file = await LineFile.create(path);
  try {
    let count = 0;
    for await (const row of rows) {
      await file.write(JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, jsonValue(row[name])]))));
      count++;
    }
    await file.finish();
    return count;
  } catch (error) {
    await file.abandon();
    throw error;
  }
};

const jsonValue = (value: unknown): unknown =>
  value instanceof Int32Array || value instanceof Float32Array ? Array.from(value) : value;

/** Rows and tokens that make a row group: what is held in memory at a time. */
const GROUP_ROWS = 1_000;
const GROUP_TOKENS = 1_000_000;

/** Parquet with Snappy; lists as Parquet's own (`list.element`), so that any reader takes them for lists. */
export const writeParquet: WriteRows = async (path, columns, rows) => {
  const { ParquetWriter, fileWriter } = await import('hyparquet-writer');
  const part = partOf(path);
  await mkdir(dirname(path), { recursive: true });
  try {
    const writer = new ParquetWriter({ writer: fileWriter(part), schema: schemaOf(columns), createdBy: 'hindcast' });
    let count = 0;
    for await (const group of groupsOf(rows)) {
      count += group.length;
      const columnData = columns.map((column) => ({
        name: column.name,
        data: group.map((row) => parquetValue(row[column.name], column)),
      }));
      await writer.write({ columnData, rowGroupSize: group.length });
    }
    await writer.finish();
    await synced(part);
    await rename(part, path);
    return count;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};

async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  await handle.sync().finally(() => handle.close());
}

async function* groupsOf(rows: AsyncIterable<ExportRow>): AsyncGenerator<ExportRow[]> {
  let group: ExportRow[] = [];
  let size = 0;
  for await (const row of rows) {
    group.push(row);
    for (const value of Object.values(row)) size += sizeOf(value);
    if (group.length < GROUP_ROWS && size < GROUP_TOKENS) continue;
    yield group;
    [group, size] = [[], 0];
  }
  if (group.length > 0) yield group;
}

const sizeOf = (value: unknown): number =>
  value instanceof Int32Array || value instanceof Float32Array ? value.length : 0;

function parquetValue(value: unknown, { type }: Column): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'ids' || type === 'log-probs') return Array.from(value as Int32Array | Float32Array);
  return type === 'json' ? JSON.stringify(value) : value;
}

type Schema = ConstructorParameters<typeof import('hyparquet-writer').ParquetWriter>[0]['schema'];

const OPTIONAL = { repetition_type: 'OPTIONAL' } as const;
const LEAVES = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  ids: { type: 'INT32' },
  'log-probs': { type: 'FLOAT' },
} as const;

export function schemaOf(columns: readonly Column[]): Schema {
  const elements = columns.flatMap(({ name, type }): Schema =>
    type === 'ids' || type === 'log-probs'
      ? [
          { name, ...OPTIONAL, converted_type: 'LIST', num_children: 1 },
          { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
          { name: 'element', repetition_type: 'REQUIRED', ...LEAVES[type] },
        ]
      : [{ name, ...OPTIONAL, ...LEAVES[type] }],
  );
  return [{ name: 'root', num_children: columns.length }, ...elements];
}
