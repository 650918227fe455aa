/** What the commands for backups share: settings, database and store of the installation, and messages for operators. */
import { createHmac } from 'node:crypto'
import { openStorage } from '#adapters/storage/open.ts'
import { fixedSecret, SECRET_BYTES } from '#adapters/storage/signature.ts'
import { loadConfig, type Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { ConfigError } from '#core/settings.ts'
import { SchemaTooNew } from '#db/migration-runner.ts'
import { DatabaseUnreachable, openServiceDatabase } from '#db/service-database.ts'
import { StorageError, type Storage } from '#ports/storage.ts'
import { requireFolder } from '#start/data-folder.ts'
import { existingKey } from '#start/secrets.ts'
import { BackupError } from './layout.ts'

export class UsageError extends Error {}

export interface Installation {
  readonly config: Config
  readonly database: Awaited<ReturnType<typeof openServiceDatabase>>
  readonly storage: Storage
}

/** The installation that the settings describe, whether it runs or not. */
export async function withInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env)
  requireFolder(config)
  const database = await openServiceDatabase(config)
  try {
    const secrets = fixedSecret(Buffer.alloc(SECRET_BYTES)) // Nothing is signed here.
    const storage = await openStorage({ ...config, publicUrl: () => config.storeUrl, secrets, clock: systemClock })
    try {
      return await work({ config, database, storage })
    } finally {
      await storage.close()
    }
  } finally {
    await database.close()
  }
}

/** Tells two keys apart and reveals neither. */
export function keyFingerprint(config: Config): string | null {
  const key = existingKey(config)
  return key && createHmac('sha256', key).update('groundtrack backup').digest('hex').slice(0, 32)
}

/** Prints what the command returns; an expected failure is one line, and a mistake in its arguments also shows the usage. */
export async function runCommand(usage: string, run: (args: readonly string[]) => Promise<{ text: string; isOk: boolean }>): Promise<void> {
  const args = process.argv.slice(2)
  try {
    const { text, isOk } = args.includes('--help') ? { text: usage, isOk: true } : await run(args)
    process.stdout.write(`${text}\n`)
    process.exitCode = isOk ? 0 : 1
  } catch (error) {
    const isExpected = [UsageError, BackupError, ConfigError, DatabaseUnreachable, SchemaTooNew, StorageError].some(
      (kind) => error instanceof kind,
    )
    process.stderr.write(`${isExpected ? (error as Error).message : (error as Error).stack}\n`)
    if (error instanceof UsageError) process.stderr.write(`\n${usage}\n`)
    process.exitCode = 1
  }
}

/** The only argument of most commands. */
export function folderOf(args: readonly string[]): string {
  const [folder, ...rest] = args
  if (!folder || folder.startsWith('-') || rest.length > 0) throw new UsageError('Name one folder')
  return folder
}
