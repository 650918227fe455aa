import { createStripePayments } from '#adapters/payments/stripe.ts'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import { secretOf } from '#model/platform/secret.ts'
import type { Payments } from '#ports/payments.ts'
import type { SandboxPayments } from '../../sandbox/payments/server.ts'
import { listenProblem } from './listen-problem.ts'

/** The card processor: the real one, none, or the sandbox, which has its own listener and the API of the real one. */
export async function startPayments(
  config: Config,
  { db, noticeUrl }: { db: Db; noticeUrl: () => string | null },
  started: AsyncDisposableStack,
): Promise<{ payments: Payments | null; sandboxPayments: SandboxPayments | null }> {
  if (config.payments === 'none') return { payments: null, sandboxPayments: null }
  if (config.payments === 'stripe')
    return {
      payments: createStripePayments({ secretKey: config.stripeSecretKey, webhookSecret: config.stripeWebhookSecret, sandboxUrl: null }),
      sandboxPayments: null,
    }
  const webhookSecret = (await secretOf(db, 'payments', systemClock.now())).toString('hex')
  const port = config.sandboxPaymentsPort
  const { startSandbox } = await import('../../sandbox/index.ts')
  const sandbox = await startSandbox({ db, payments: { port, noticeUrl, webhookSecret }, vendors: null }).catch((error: unknown) => {
    throw listenProblem(error, { setting: 'SANDBOX_PAYMENTS_PORT', host: '127.0.0.1', port, dataDir: config.dataDir })
  })
  started.defer(() => sandbox.close())
  const processor = sandbox.payments!
  return {
    payments: createStripePayments({ secretKey: processor.secretKey, webhookSecret, sandboxUrl: () => processor.url }),
    sandboxPayments: processor,
  }
}
