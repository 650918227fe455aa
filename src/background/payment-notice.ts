import { newId } from '#core/ids.ts'
import { PaymentsError } from '#ports/payments.ts'
import { problem } from '#core/problem.ts'
import { requirePayments } from '#model/money/processor.ts'
import { receive } from '#model/money/payment-notice.ts'
import type { Platform } from '#pipeline/platform.ts'

/** Receives a webhook of the card processor: trusted only by its signature, processed once, and failed if it should be sent again. */
export async function receiveNotice({ db, services }: Platform, body: Buffer, signature: string): Promise<void> {
  const { clock, payments, commit } = services
  requirePayments({ payments })
  try {
    const notice = await payments!.readNotice(body, signature)
    await receive({ db, clock, payments, commit, invocationId: newId() }, notice)
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    if (error.code === 'invalid-signature') throw problem('bad-request', 'The notice is not signed by the payment processor')
    throw problem('payment-processor-outage', 'The payment processor returned no usable response; send the notice again')
  }
}
