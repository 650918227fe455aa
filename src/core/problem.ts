import { STATUS_CODES } from 'node:http'
import { meant } from './nearest.ts'

/**
 * All errors that callers can see. The slug is the last part of the problem's `type` URL and its `code`; `title` is the HTTP reason
 * phrase unless the specification defines one; `about` is the text of its page.
 */
export const PROBLEMS = {
  'bad-request': {
    status: 400,
    about: 'The request is well formed but cannot be carried out. The detail says which combination or state prevents it.',
  },
  'checksum-mismatch': {
    status: 400,
    about: 'The bytes that arrived differ from `Content-MD5`: they were changed on the way. Nothing was stored; send the part again.',
  },
  'asset-not-ready': {
    status: 400,
    about:
      'The file is still being converted for display and statistics. Check its progress with `uploads.progress`, and retry ' +
      'when its state is `ready`.',
  },
  'invalid-json': {
    status: 400,
    about: 'The body is not a JSON object, or is nested more than 32 levels deep. Send one JSON object encoded as UTF-8.',
  },
  'invalid-idempotency-key': { status: 400, about: 'An Idempotency-Key must have 1 to 255 printable ASCII characters.' },
  unauthorized: {
    status: 401,
    about: 'The request has no valid credential. Send `Authorization: Bearer …` with a session token or an API key.',
  },
  'insufficient-credits': {
    status: 402,
    title: 'Insufficient Credits',
    about:
      'The wallet has fewer available credits than this costs; see `required_credits` and `available_credits`. Top up with ' +
      '`billing.topup`, or wait until reservations are released.',
  },
  'payment-method-required': {
    status: 402,
    title: 'Payment Method Required',
    about:
      'This is paid by card, and the organization has no default card. Add one with `payment_methods.attach` and ' +
      '`payment_methods.set_default`.',
  },
  'card-declined': {
    status: 402,
    title: 'Card Declined',
    about: 'The bank declined the payment with the default card. Nothing was charged. Retry later or set another default card.',
  },
  'authentication-required': {
    status: 402,
    title: 'Authentication Required',
    about:
      'The bank requires the cardholder to confirm the payment (3-D Secure). Confirm `client_secret` with the payment ' +
      'processor, then repeat the identical request with the same Idempotency-Key.',
  },
  'spend-limit-exceeded': {
    status: 403,
    title: 'Spend limit exceeded',
    about:
      "The purchase exceeds the member's spending limit, per order or within 30 days. An owner or admin can raise the limit " +
      'or approve the purchase. Nothing was reserved.',
  },
  'storage-quota-exceeded': {
    status: 402,
    title: 'Storage Quota Exceeded',
    about:
      'The storage quota of the plan is used up. `used` and `limit` are bytes, including uploads in progress. Delete files ' +
      'you no longer need, or change the plan with `billing.plan.change`.',
  },
  'compute-quota-exceeded': {
    status: 402,
    title: 'Compute Quota Exceeded',
    about:
      "This month's quota of clip jobs or of other processing jobs is used up. `used` and `limit` are numbers of jobs. Wait " +
      'for the next month, or change the plan with `billing.plan.change`.',
  },
  'subscription-past-due': {
    status: 402,
    title: 'Subscription Past Due',
    about: 'An invoice of the organization is past due. Downloads work again once it is paid; see `billing.invoices.list`.',
  },
  'second-factor-required': {
    status: 401,
    title: 'Second factor required',
    about:
      'The password is right, and the account has two-factor sign-in. Send `challenge_token` within `expires_in` seconds to ' +
      '`POST /auth/sign-in/second-factor`, with one of `factors`. Programs use an API key instead.',
  },
  'wrong-second-factor': {
    status: 403,
    title: 'Wrong second factor',
    about: 'The code, recovery code or passkey is wrong, has expired or was used before. A code is accepted once; wait for the next one.',
  },
  'fresh-factor-required': {
    status: 403,
    title: 'Second factor required',
    about:
      'This changes how the account is protected, so it requires a second factor now, even in a session: send `code`, ' +
      '`recovery_code`, or `credential` with its `challenge_token`.',
  },
  'two-factors-required': {
    status: 403,
    title: 'Two-factor sign-in required',
    about:
      'An organization of the account requires two-factor sign-in, and the account has none. Until it is set up under ' +
      '`/auth/two-factors`, or in the console, the session can only use the routes of its own account. API keys are not affected.',
  },
  forbidden: { status: 403, about: "The credential is valid, but the user's role does not allow this." },
  'user-authorization-required': {
    status: 403,
    title: 'User authorization required',
    about:
      'Only a signed-in user can do this, for example place an order of archive imagery or invite a member; an API key cannot. ' +
      'Sign in and use the session token. Nothing was changed or reserved.',
  },
  'missing-scope': {
    status: 403,
    about: 'The credential lacks the scope that this operation requires. The detail names it; use a credential with that ' + 'permission.',
  },
  'organization-required': {
    status: 403,
    about:
      'The user does not belong to an organization. Create one with `organizations.create` or accept an invitation, then ' +
      'refresh the session.',
  },
  'licence-acceptance-required': {
    status: 403,
    title: 'Licence acceptance required',
    about:
      "The product's licence has not been accepted by the organization in its current version. Read it with " +
      '`eulas.document.get`, accept it with `eulas.document.accept`, then order again. `eula_id` and `document_id` identify ' +
      'it.',
  },
  'sign-up-refused': {
    status: 403,
    about: 'This email address has an operator role, so the operator of the service must create its account.',
  },
  'sso-required': {
    status: 403,
    title: 'Single sign-on required',
    about:
      'The organization requires single sign-on, or the last one was too long ago. Open `sign_in_url`, relative to this service, in a ' +
      'browser. Owners can also sign in with their password. API keys are not affected.',
  },
  'sso-unknown-domain': {
    status: 404,
    about:
      'No organization here has single sign-on for the domain of this email address. Sign in with a password, or ask an owner of your ' +
      'organization to verify the domain.',
  },
  'invalid-signature': {
    status: 403,
    about:
      'This is not a signed URL of the object store, or the request differs from what was signed: the method, the URL, the ' +
      'Content-Type or the length. Request a new URL and use it unchanged.',
  },
  'expired-signature': {
    status: 403,
    about: 'The signed URL has expired. Request a new one; a resumable upload continues at its offset.',
  },
  'not-found': {
    status: 404,
    about:
      'No resource with this ID exists, or the caller cannot see it. Resources of other organizations look exactly like those ' +
      'that do not exist.',
  },
  'unknown-operation': { status: 404, about: 'There is no such operation. `GET /openapi.json` lists all operations.' },
  'method-not-allowed': { status: 405, about: 'Operations are invoked with POST.' },
  'request-timeout': {
    status: 408,
    about: 'The request body arrived too slowly. A resumable upload can be continued at its offset.',
  },
  'idempotency-conflict': {
    status: 409,
    about:
      'This Idempotency-Key was used within the last 24 hours with a different body on the same operation. Use a new key for ' +
      'a new request.',
  },
  'idempotency-in-progress': {
    status: 409,
    about:
      'The first request with this Idempotency-Key is still in progress. Repeat the identical request after a moment to get ' +
      'its response.',
  },
  'approval-exceeded': {
    status: 409,
    title: 'Approval exceeded',
    about:
      'The purchase costs more credits than its approval allows (`required_credits` and `approved_credits`). Nothing was ' +
      'executed or reserved. Request a new approval for the current price.',
  },
  'draft-changed': {
    status: 409,
    about:
      'The draft order was changed since it was read, for example on another device (`current_version`). Read it again and repeat ' +
      'the change.',
  },
  'map-changed': {
    status: 409,
    about: 'The map was changed since it was read, for example by a colleague (`current_version`). Read it again and repeat the change.',
  },
  'upload-offset': {
    status: 409,
    about: 'The part does not start at the upload offset. `Upload-Offset` gives the number of bytes received; continue from there.',
  },
  gone: {
    status: 410,
    about:
      'The item was deleted or its retention has ended, so its files can no longer be downloaded; upgrading the plan restores ' +
      'expired items. Or its only file could not be converted after the upload; the detail says why.',
  },
  'length-required': { status: 411, about: 'An upload must state its length: send `Content-Length`, not a chunked transfer encoding.' },
  'precondition-failed': { status: 412, about: 'The object is no longer the one that `If-Match` names.' },
  'payload-too-large': {
    status: 413,
    about:
      'The body is larger than `limit`, the maximum for this address in bytes: 16 KiB for sign-in, 64 KiB for public ' +
      'operations, 256 KiB for others, 512 KiB to write an item, 8 MiB to run an analytics method, 10 MiB for an import and ' +
      '16 MiB for job parameters.',
  },
  'object-too-large': { status: 413, about: 'The file is larger than the signed URL allows.' },
  'unsupported-media-type': { status: 415, about: 'Send `Content-Type: application/json` without a content encoding.' },
  'range-not-satisfiable': { status: 416, about: 'The requested range is outside the file. `Content-Range` gives its size.' },
  'invalid-input': {
    status: 422,
    about: 'A field is missing, unknown, of the wrong type or out of range. `errors` names each field and what it must be.',
  },
  'unreadable-raster': {
    status: 422,
    about: 'The file is not a supported raster. The detail says what is wrong, for example its format, georeference or size.',
  },
  'position-required': {
    status: 422,
    about:
      'An uploaded file has no usable georeference. Repeat `uploads.complete` with `positions`: for each such file its `crs` ' +
      'and either `bounds` or `gcps`. `errors` names the files; they are kept until the session ends.',
  },
  'raster-too-demanding': {
    status: 422,
    about:
      'Reading this part of the file would take more time or memory than one request can use. Request a smaller area or a ' +
      'coarser resolution.',
  },
  'rate-limited': {
    status: 429,
    about: 'The rate limit of this credential or address is exceeded. Retry after the number of seconds in `Retry-After`.',
  },
  'egress-limited': {
    status: 429,
    about:
      'The organization has reached the download limit of its plan, per 24 hours, per minute or at once. Retry after the ' +
      'number of seconds in `Retry-After`.',
  },
  'too-many-attempts': { status: 429, about: 'Too many failed attempts. Retry after the number of seconds in `Retry-After`.' },
  'caller-left': {
    status: 499,
    title: 'Client Closed Request',
    about:
      'The client disconnected before the response was ready, as map clients do when the map moves. Only logs and metrics ' + 'show this.',
  },
  'internal-error': {
    status: 500,
    about: 'An internal error occurred; the request was rolled back. Quote the `instance` when you report it.',
  },
  'provenance-error': {
    status: 500,
    title: 'Provenance Error',
    about:
      'The operation could not record the lineage of its results, so it was rolled back. Quote the `instance` when you report ' + 'it.',
  },
  'bad-gateway': {
    status: 502,
    about: 'A host that the request depends on failed or returned an invalid response. Retry later, or check the URL.',
  },
  'gateway-timeout': {
    status: 504,
    about: 'A host that the request depends on did not respond in time. Retry later, or request less.',
  },
  'payment-processor-outage': {
    status: 502,
    about:
      'The payment processor returned no usable response. Repeat the identical request with the same Idempotency-Key: a ' +
      'payment that succeeded is found and not made again.',
  },
  'billing-not-configured': {
    status: 503,
    about: 'Card payments are not available: no payment processor is configured. Everything paid from credits still works.',
  },
  unavailable: { status: 503, about: 'The service is starting, stopping or overloaded. Retry shortly.' },
  'insufficient-storage': {
    status: 507,
    about:
      'The disk of the object store or the database is full; the detail says which. The operator must free space. The request ' +
      'was rolled back, except for the part of an upload that has arrived, which can be continued.',
  },
} as const satisfies Record<string, { status: number; title?: string; about: string }>

export type ProblemSlug = keyof typeof PROBLEMS

/** Problems that are bugs: they are logged and counted as errors. */
export const FAULTS: Readonly<Partial<Record<ProblemSlug, true>>> = { 'internal-error': true, 'provenance-error': true }

export interface FieldError {
  field: string
  message: string
}

export class Problem extends Error {
  readonly slug: ProblemSlug
  readonly status: number
  readonly title: string
  /** Further members of the document, for example `errors`. */
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(slug: ProblemSlug, detail: string, extra: ProblemExtra = {}) {
    super(detail, extra.cause === undefined ? undefined : { cause: extra.cause })
    const entry: { status: number; title?: string } = PROBLEMS[slug]
    this.slug = slug
    this.status = entry.status
    this.title = entry.title ?? STATUS_CODES[entry.status] ?? 'Error'
    this.members = extra.members ?? {}
    this.headers = extra.headers ?? {}
  }
}

interface ProblemExtra {
  members?: Record<string, unknown>
  headers?: Record<string, string>
  /** The underlying error: logged, never shown. */
  cause?: unknown
}

/** Invalid input is created by `invalidInput` only, so that it always names the fields. */
export function problem(slug: Exclude<ProblemSlug, 'invalid-input'>, detail: string, extra?: ProblemExtra): Problem {
  return new Problem(slug, detail, extra)
}

export const notFound = (what: string): Problem => problem('not-found', `No such ${what}`)
/** For public names only, never for private resources. */
export const unknownName = (what: string, name: string, known: readonly string[], otherwise: string): Problem =>
  notFound(`${what} '${name.slice(0, 60)}'${meant(name, known, otherwise)}`)
export const callerLeft = (): Problem => problem('caller-left', 'The client closed the connection')
export const accessDenied = (): Problem => problem('forbidden', 'Access denied')

/** At least one error; `members` are further members of the document. */
export function invalidInput(errors: readonly FieldError[], members: Record<string, unknown> = {}): Problem {
  const [{ field, message }] = errors as [FieldError]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('invalid-input', `${field}: ${message}${more}`, { members: { ...members, errors } })
}

/** The same problem with additional members, for example the schema of the input. */
export function withMembers({ slug, message, members, headers }: Problem, more: Record<string, unknown>): Problem {
  return new Problem(slug, message, { members: { ...members, ...more }, headers })
}

export function invalidField(field: string, message: string): Problem {
  return invalidInput([{ field, message }])
}
