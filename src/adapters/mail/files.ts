import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import type { Mail } from '#ports/mail.ts'

interface FolderOptions {
  folder: string
  from: string
  clock: Clock
  /** Called with the path of each mail. */
  onWritten: (file: string) => void
}

/** Used if no mail server is configured: each mail is a file that mail programs open and only its owner can read. */
export function createMailFolder({ folder, from, clock, onWritten }: FolderOptions): Mail {
  return {
    async send(message) {
      const { createTransport } = await import('nodemailer')
      const mail = await createTransport({ streamTransport: true, buffer: true }).sendMail({
        from,
        ...message,
        date: clock.now(),
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = path.join(folder, `${newId()}.eml`)
      await writeFile(file, mail.message as Buffer, { mode: 0o600, flag: 'wx' })
      onWritten(file)
    },
    async close() {},
  }
}
