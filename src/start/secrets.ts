/** The key that encrypts secrets in the database: a setting, or a file in the data folder that only this user can read. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Config } from '#config.ts'
import { ConfigError } from '#core/settings.ts'
import { createSeal, KEY_BYTES, type Seal } from '#core/seal.ts'

const FILE_NAME = 'secrets.key'
const FILE_MODE = 0o600

export function openSecrets({ secretsKey, dataDir }: Pick<Config, 'secretsKey' | 'dataDir'>): Seal {
  return createSeal(secretsKey ?? keyOfFile(path.join(dataDir, FILE_NAME)))
}

/** The key in use; null if none has been created yet. */
export function existingKey({ secretsKey, dataDir }: Pick<Config, 'secretsKey' | 'dataDir'>): Buffer | null {
  const file = path.join(dataDir, FILE_NAME)
  return secretsKey ?? (fs.existsSync(file) ? keyOfFile(file) : null)
}

/** Created on first use. Without it, secrets that were stored with it are lost, so that an unusable one is never replaced. */
function keyOfFile(file: string): Buffer {
  try {
    const part = `${file}.${process.pid}`
    fs.writeFileSync(part, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: FILE_MODE, flag: 'wx', flush: true })
    try {
      fs.linkSync(part, file) // Fails if another process has created it.
    } finally {
      fs.rmSync(part)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if ((fs.statSync(file).mode & 0o077) !== 0) throw new ConfigError(`${file} can be read by other users: run chmod 600 ${file}`)
  const key = Buffer.from(fs.readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== KEY_BYTES)
    throw new ConfigError(
      `${file} must have ${KEY_BYTES} bytes in Base64; restore it from a backup, or delete it and connect accounts again`,
    )
  return key
}
