/** The simulated outside world, started with one call: real servers on loopback that implement the real protocols. */
import type { Db } from '#db/tables.ts'
import type { Clock } from '#core/clock.ts'
import { SANDBOX_KEY, startSandboxPayments, type SandboxPayments } from './payments/server.ts'
import { startSandboxVendors, type SandboxVendors } from './vendors/server.ts'

interface SandboxSettings {
  db: Db
  /** Null: no simulated card processor. */
  payments: { port: number; noticeUrl: () => string | null; webhookSecret: string } | null
  /** Null: no simulated hosts. */
  vendors: { port: number; clock: Clock; workDir: string; deliverySeconds: number } | null
}

interface Sandbox {
  /** With the API key of its client. */
  payments: (SandboxPayments & { secretKey: string }) | null
  vendors: SandboxVendors | null
  close(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startSandbox({ db, payments, vendors }: SandboxSettings): Promise<Sandbox> {
  const processor = payments && (await startSandboxPayments({ db, host: HOST, ...payments }))
  const hosts = vendors && (await startSandboxVendors({ db, host: HOST, ...vendors }))
  return {
    vendors: hosts,
    payments: processor && { ...processor, secretKey: SANDBOX_KEY },
    close: async () => {
      await hosts?.close()
      await processor?.close()
    },
  }
}
