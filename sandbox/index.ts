/** Everything that stands in for the outside world, started by one call: real servers on loopback that speak the real protocols. */
import type { Db } from '#db/tables.ts'
import { SANDBOX_KEY, startSandboxPayments, type SandboxPayments } from './payments/server.ts'

interface SandboxSettings {
  db: Db
  /** Null: somebody else takes the cards. */
  payments: { port: number; noticeUrl: () => string | null; webhookSecret: string } | null
}

interface Sandbox {
  /** With the key that its client signs in with. */
  payments: (SandboxPayments & { secretKey: string }) | null
  close(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startSandbox({ db, payments }: SandboxSettings): Promise<Sandbox> {
  const processor = payments && (await startSandboxPayments({ db, host: HOST, ...payments }))
  return {
    payments: processor && { ...processor, secretKey: SANDBOX_KEY },
    close: async () => {
      await processor?.close()
    },
  }
}
