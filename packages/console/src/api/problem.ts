/** Words for what went wrong. */
import { ConnectionError, ProblemError } from '../../../client/src/core.ts'

export { isProblem, ProblemError } from '../../../client/src/core.ts'

/** What to say first, by kind; the service's own sentence follows. */
const SENTENCES: Readonly<Record<string, string>> = {
  'insufficient-credits': 'There are not enough credits for this.',
  'payment-method-required': 'A card is needed first.',
  'card-declined': 'The card was declined.',
  'authentication-required': 'Your bank requires confirmation.',
  'spend-limit-exceeded': 'This is above your spending cap.',
  'licence-acceptance-required': 'A licence has to be accepted first.',
  'storage-quota-exceeded': 'The storage quota of the plan is used up.',
  'compute-quota-exceeded': 'The jobs of this month are used up.',
  'subscription-past-due': 'An invoice is past due.',
  forbidden: 'Your role does not allow this.',
  'missing-scope': 'Your role does not allow this.',
  'organization-required': 'Choose or create an organization first.',
  'not-found': "Not found, or you don't have access.",
  gone: 'It has expired.',
  'rate-limited': 'Too many calls at once.',
  'too-many-attempts': 'Too many attempts.',
  'asset-not-ready': 'The file is still being prepared.',
  'invalid-input': 'Something in the form needs another value.',
  unavailable: 'The service is not ready.',
  'gateway-timeout': 'The vendor gave no answer in time.',
  'bad-gateway': 'The vendor answered with an error.',
}

export function headline(error: unknown): string {
  if (error instanceof ConnectionError) return 'The service could not be reached.'
  if (!(error instanceof ProblemError)) return 'Something went wrong here.'
  return SENTENCES[error.slug] ?? (error.status >= 500 ? 'The service failed at this.' : 'This was refused.')
}

/** Whether trying again by itself may help: nothing was wrong with the question. */
export const isPassing = (error: unknown) =>
  error instanceof ConnectionError || (error instanceof ProblemError && [429, 502, 503, 504].includes(error.status))
