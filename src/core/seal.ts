/** Encryption of secrets at rest: AES-256-GCM with a key that is not in the database. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
export const KEY_BYTES = 32

export interface Seal {
  /** `about` names what the value belongs to: it cannot be decrypted as anything else. */
  close(value: string, about?: string): string
  /** Null: it was encrypted with another key, or belongs to something else. */
  open(stored: string, about?: string): string | null
}

export function createSeal(key: Buffer): Seal {
  return {
    close(value, about = '') {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(about))
      const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(stored, about = '') {
      const bytes = Buffer.from(stored, 'base64')
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(about))
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        return null
      }
    },
  }
}

/** Encrypts nothing, for values that anyone can obtain. */
export const NO_SEAL: Seal = { close: (value) => value, open: (stored) => stored }
