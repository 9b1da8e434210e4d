// Migrations without Prisma's native engine: its WebAssembly build over the same driver adapter that the service uses.
//
//   DATABASE_URL=… node migrate.mjs apply        applies what is missing (the same table and checksums as `prisma migrate deploy`)
//   DATABASE_URL=… node migrate.mjs drift        prints the SQL that is missing between the database and the schema; nothing when they agree
//   DATABASE_URL=… node migrate.mjs new NAME     on an empty scratch database: applies all migrations and writes the next one
//
// The service runs it as a process of its own: the engine is an ES module of 3 MB that is needed once.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

const folder = path.dirname(fileURLToPath(import.meta.url));
const migrations = path.join(folder, 'migrations');
const schemaPath = path.join(folder, 'schema.prisma');
const schema = [{ path: schemaPath, content: readFileSync(schemaPath, 'utf8') }];
const filters = { externalTables: [], externalEnums: [] };

const [command = 'apply', name] = process.argv.slice(2);
const connectionString = name === '--url-from-stdin' ? readFileSync(0, 'utf8').trim() : process.env.DATABASE_URL;
if (!connectionString) throw new Error('DATABASE_URL is not set');

/**
 * The schema engine reads catalogue columns of PostgreSQL's type "char" (one byte, oid 18), which the adapter refuses to translate. They
 * pass through it as text under a marked name, and get their type afterwards.
 */
const MARK = '\u0000char';

class CatalogPool extends pg.Pool {
  async query(...args) {
    const result = await super.query(...args);
    for (const field of result.fields ?? []) {
      if (field.dataTypeID === 18) Object.assign(field, { dataTypeID: 25, name: field.name + MARK });
    }
    return result;
  }
}

class CatalogAdapterFactory extends PrismaPg {
  async connect() {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      result.columnNames.forEach((name, column) => {
        if (name.endsWith(MARK)) result.columnTypes[column] = ColumnTypeEnum.Character;
      });
      return { ...result, columnNames: result.columnNames.map((name) => name.replace(MARK, '')) };
    };
    // The adapter's own cuts a script at each semicolon, those within functions too. Whole, it is one transaction.
    adapter.executeScript = async (script) => {
      await adapter.client.query(script).catch((error) => adapter.onError(error));
    };
    return adapter;
  }
}

async function openEngine() {
  globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => process.stderr.write(`${message}\n`) };
  const wasm = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm');
  const { instance } = await globalThis.WebAssembly.instantiate(readFileSync(wasm), {
    './schema_engine_bg.js': engineModule,
  });
  engineModule.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
  const adapters = bindMigrationAwareSqlAdapterFactory(
    new CatalogAdapterFactory(new CatalogPool({ connectionString })),
  );
  return engineModule.SchemaEngine.new(
    { datamodels: schema.map((file) => [file.path, file.content]) },
    () => {},
    adapters,
  );
}

function migrationsList() {
  return {
    baseDir: migrations,
    lockfile: {
      path: 'migration_lock.toml',
      content: readFileSync(path.join(migrations, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: readdirSync(migrations, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .map((directory) => ({
        path: directory,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok', value: readFileSync(path.join(migrations, directory, 'migration.sql'), 'utf8') },
        },
      })),
  };
}

const apply = (engine) => engine.applyMigrations({ migrationsList: migrationsList(), filters });

// From the database itself: Prisma's "from migrations" would use a shadow database, which this adapter takes to be the main one.
async function missingSql(engine) {
  const { exitCode, stdout } = await engine.diff({
    from: { tag: 'schemaDatasource', files: schema, configDir: folder },
    to: { tag: 'schemaDatamodel', files: schema },
    script: true,
    exitCode: true,
    filters,
    shadowDatabaseUrl: null,
  });
  return exitCode === 0 ? '' : (stdout ?? '');
}

const engine = await openEngine();
if (command === 'apply') {
  const { appliedMigrationNames } = await apply(engine);
  process.stdout.write(`${JSON.stringify({ applied: appliedMigrationNames })}\n`);
} else if (command === 'drift') {
  process.stdout.write(await missingSql(engine));
} else if (command === 'new' && name) {
  await apply(engine);
  const sql = await missingSql(engine);
  const target = path.join(migrations, name, 'migration.sql');
  if (sql === '') process.stdout.write('the schema has not changed\n');
  else if (existsSync(target)) throw new Error(`${target} exists`);
  else {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, sql);
    process.stdout.write(`${target}\n`);
  }
} else {
  throw new Error('usage: migrate.mjs apply | drift | new NAME');
}
process.exit(0);
