import { problem, type Problem } from '#core/problem.ts'
import { isIn } from '#core/vocabulary.ts'
import { VendorError } from '#ports/vendors/call.ts'

/** Failures that the caller can do something about. */
const REQUESTERS = ['refused', 'not-found', 'forbidden'] as const

/** The problem that callers receive when a vendor failed. */
export function vendorProblem(error: VendorError): Problem {
  if (error.code === 'timeout') return problem('gateway-timeout', error.message)
  return problem(isIn(REQUESTERS, error.code) ? 'bad-request' : 'bad-gateway', error.message)
}

/** Calls a vendor within an operation: its failures become problems. */
export async function callVendor<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw error instanceof VendorError ? vendorProblem(error) : error
  }
}
