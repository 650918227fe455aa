/** A refusal of the service, or no answer at all, as one kind of error. */
export class CallProblem extends Error {
  readonly status: number
  readonly code: string
  readonly instance: string
  readonly errors: readonly { field: string; message: string }[]
  /** Members that only some kinds have, such as `required_credits`. */
  readonly members: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | null
  readonly operation: string

  constructor(operation: string, status: number, document: Record<string, unknown>, retryAfterSeconds: number | null) {
    super(String(document['detail'] ?? document['title'] ?? 'The service could not be reached'))
    this.operation = operation
    this.status = status
    this.code = String(document['code'] ?? 'unknown')
    this.instance = String(document['instance'] ?? '')
    this.errors = Array.isArray(document['errors']) ? (document['errors'] as { field: string; message: string }[]) : []
    this.members = document
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export async function problemOf(operation: string, response: Response): Promise<CallProblem> {
  const text = await response.text().catch(() => '')
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  let document: Record<string, unknown> = { title: `HTTP ${response.status}` }
  try {
    document = JSON.parse(text) as Record<string, unknown>
  } catch {
    // Something between us and the service answered in its own words.
  }
  return new CallProblem(operation, response.status, document, Number.isNaN(retryAfter) ? null : retryAfter)
}

export const isProblem = (error: unknown, ...codes: readonly string[]): error is CallProblem =>
  error instanceof CallProblem && (codes.length === 0 || codes.includes(error.code))

/** What to say first, by kind; the service's own sentence follows. */
const SENTENCES: Readonly<Record<string, string>> = {
  'insufficient-credits': 'There are not enough credits for this.',
  'payment-method-required': 'A card is needed first.',
  'card-declined': 'The card was declined.',
  'authentication-required': 'The bank wants to be asked.',
  'spend-limit-exceeded': 'This is above your spending cap.',
  'licence-acceptance-required': 'A licence has to be accepted first.',
  'storage-quota-exceeded': 'There is no room left in the plan.',
  'compute-quota-exceeded': 'The jobs of this month are used up.',
  'subscription-past-due': 'An invoice is past due.',
  forbidden: 'Your role does not allow this.',
  'missing-scope': 'Your role does not allow this.',
  'organization-required': 'Choose or create an organization first.',
  'not-found': 'Not here, or not yours to see.',
  gone: 'It has expired.',
  'rate-limited': 'Too many calls at once.',
  'too-many-attempts': 'Too many attempts.',
  'asset-not-ready': 'The file is still being prepared.',
  'invalid-input': 'Something in the form needs another value.',
  'no-answer': 'The service could not be reached.',
  unavailable: 'The service is not ready.',
  'gateway-timeout': 'The vendor gave no answer in time.',
  'bad-gateway': 'The vendor answered with an error.',
}

export function headline(error: unknown): string {
  if (!(error instanceof CallProblem)) return 'Something went wrong here.'
  return SENTENCES[error.code] ?? (error.status >= 500 ? 'The service failed at this.' : 'This was refused.')
}
