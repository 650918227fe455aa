/** Words for what went wrong. */
import { ConnectionError, ProblemError } from '../../../client/src/core.ts'

export { isProblem, ProblemError } from '../../../client/src/core.ts'

/** What to say first, by kind; the service's own sentence follows. */
const SENTENCES: Readonly<Record<string, string>> = {
  'insufficient-credits': 'Not enough credits.',
  'payment-method-required': 'Add a card to continue.',
  'card-declined': 'The card was declined.',
  'authentication-required': 'Your bank requires confirmation.',
  'spend-limit-exceeded': 'This exceeds your spending cap.',
  'licence-acceptance-required': 'Accept the licence to continue.',
  'storage-quota-exceeded': "Your plan's storage quota is used up.",
  'compute-quota-exceeded': "This month's job quota is used up.",
  'subscription-past-due': 'An invoice is past due.',
  'second-factor-required': 'A second factor is required.',
  'wrong-second-factor': 'That did not work.',
  'fresh-factor-required': 'A second factor is required.',
  'two-factors-required': 'Set up two-factor sign-in first.',
  forbidden: 'Your role does not allow this.',
  'missing-scope': 'Your role does not allow this.',
  'organization-required': 'Choose or create an organization first.',
  'sso-required': 'This organization requires single sign-on.',
  'sso-unknown-domain': 'No single sign-on for this address.',
  'not-found': "Not found, or you don't have access.",
  gone: 'This has expired.',
  'rate-limited': 'Rate limit exceeded. Try again shortly.',
  'too-many-attempts': 'Too many attempts.',
  'asset-not-ready': 'The file is still being prepared.',
  'invalid-input': 'Some values are invalid.',
  unavailable: 'The service is temporarily unavailable.',
  'gateway-timeout': 'The vendor did not respond in time.',
  'bad-gateway': 'The vendor returned an error.',
}

export function headline(error: unknown): string {
  if (error instanceof ConnectionError) return 'Could not reach the service.'
  if (!(error instanceof ProblemError)) return 'Something went wrong.'
  return SENTENCES[error.slug] ?? (error.status >= 500 ? 'Server error.' : 'The request was rejected.')
}

/** Whether trying again by itself may help: nothing was wrong with the question. */
export const isPassing = (error: unknown) =>
  error instanceof ConnectionError || (error instanceof ProblemError && [429, 502, 503, 504].includes(error.status))
