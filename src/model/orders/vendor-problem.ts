import { problem, type Problem } from '#core/problem.ts'
import { VendorError } from '#ports/vendors.ts'

/** What a caller is told of a vendor that failed. */
export function vendorProblem(error: VendorError): Problem {
  if (error.code === 'timeout') return problem('gateway-timeout', error.message)
  return problem(error.code === 'refused' || error.code === 'not-found' ? 'bad-request' : 'bad-gateway', error.message)
}

/** Asks a vendor within a call: its failures become what the caller is told. */
export async function askVendor<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw error instanceof VendorError ? vendorProblem(error) : error
  }
}
