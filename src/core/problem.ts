import { STATUS_CODES } from 'node:http'
import { meant } from './nearest.ts'

/**
 * Every failure that a caller can see, in one place. The slug is the last part of the problem's `type` address and its
 * `code`; `title` is the HTTP reason phrase unless the specification gives one; `about` is the text of its page.
 */
export const PROBLEMS = {
  'bad-request': {
    status: 400,
    about: 'The request is well-formed, but not possible: the detail says which combination or state forbids it.',
  },
  'asset-not-ready': {
    status: 400,
    about:
      'The file behind this is still being converted to a form that maps and statistics can be drawn from. ' +
      '`uploads.progress` with the `upload_id` tells how far it is; ask again when its state is `ready`.',
  },
  'invalid-json': {
    status: 400,
    about: 'The body is not a JSON object, or nests deeper than 32 levels. Send one JSON object encoded as UTF-8.',
  },
  'invalid-idempotency-key': { status: 400, about: 'An Idempotency-Key is 1 to 255 printable ASCII characters.' },
  unauthorized: {
    status: 401,
    about:
      'No usable credential came with the request. Send `Authorization: Bearer …` with a session token or an API key that is still valid.',
  },
  'insufficient-credits': {
    status: 402,
    title: 'Insufficient Credits',
    about:
      'The wallet has fewer credits available than this costs. `required_credits` and `available_credits` say how ' +
      'many; top up with `billing.topup`, or wait until reservations end.',
  },
  'payment-method-required': {
    status: 402,
    title: 'Payment Method Required',
    about:
      'This is paid by card, and the organization has no default card. Save one with `payment_methods.attach` and ' +
      '`payment_methods.set_default`.',
  },
  'card-declined': {
    status: 402,
    title: 'Card Declined',
    about: 'The bank of the default card refused the payment. Nothing was charged. Try again later or make another card the default.',
  },
  'authentication-required': {
    status: 402,
    title: 'Authentication Required',
    about:
      'The bank wants the card holder to confirm the payment (3-D Secure). Confirm `client_secret` with the payment ' +
      'processor on your side, then repeat the identical request with the same Idempotency-Key.',
  },
  'spend-limit-exceeded': {
    status: 403,
    title: 'Spend limit exceeded',
    about:
      'The purchase is above what the member may spend: per order, or within any 30 days. An owner or admin can raise ' +
      'the limit or approve the purchase. Nothing was reserved.',
  },
  'storage-quota-exceeded': {
    status: 402,
    title: 'Storage Quota Exceeded',
    about:
      'The plan has no room for these bytes. `used` and `limit` are bytes, uploads under way included. Delete what is ' +
      'no longer needed, or change the plan with `billing.plan.change`.',
  },
  'compute-quota-exceeded': {
    status: 402,
    title: 'Compute Quota Exceeded',
    about:
      'The clip jobs, or the other processing jobs, of this month are used up. `used` and `limit` are jobs. Wait for the next month, ' +
      'or change the plan ' +
      'with `billing.plan.change`.',
  },
  'subscription-past-due': {
    status: 402,
    title: 'Subscription Past Due',
    about: 'An invoice of the organization is past due. Downloads work again as soon as it is paid; `billing.invoices.list` shows it.',
  },
  forbidden: { status: 403, about: 'The credential is valid, but its user has no role that allows this.' },
  'user-authorization-required': {
    status: 403,
    title: 'User authorization required',
    about:
      'Only a signed-in user can do this, for example place an order of archive imagery or invite a member; an API key cannot. ' +
      'Sign in and use the session token. Nothing was changed or reserved.',
  },
  'missing-scope': {
    status: 403,
    about:
      'The credential does not hold the one scope that this operation requires. The detail names it; use a credential ' +
      'with that permission.',
  },
  'organization-required': {
    status: 403,
    about: 'The caller acts for no organization. Create one with `organizations.create` or accept an invitation, then refresh the session.',
  },
  'licence-acceptance-required': {
    status: 403,
    title: 'Licence acceptance required',
    about:
      'The product is sold under a licence that the organization has not accepted in its present version. Read it with ' +
      '`eulas.document.get`, accept it with `eulas.document.accept`, then order again. `eula_id` and `document_id` name it.',
  },
  'sign-up-refused': {
    status: 403,
    about: 'This address holds an operator role here, so its account is made by the operator of the service.',
  },
  'invalid-signature': {
    status: 403,
    about:
      'This is not a signed address of the object store, or something of the request is not what was signed: the ' +
      'method, the address to the last character, the Content-Type or the length. Ask for a new address and use it ' +
      'exactly as it comes.',
  },
  'expired-signature': {
    status: 403,
    about: 'The signed address has outlived its time. Ask for a new one; an upload in pieces begins again at its new address.',
  },
  'not-found': {
    status: 404,
    about:
      'Nothing with this id exists where the caller can see it. Things of other organizations look exactly like things that do not exist.',
  },
  'unknown-operation': { status: 404, about: 'There is no such operation. `GET /openapi.json` lists all of them.' },
  'method-not-allowed': { status: 405, about: 'Operations are invoked with POST.' },
  'request-timeout': {
    status: 408,
    about: 'The bytes of the request came too slowly. An upload in pieces can be continued where it stands.',
  },
  'idempotency-conflict': {
    status: 409,
    about:
      'This Idempotency-Key was used within the last 24 hours with another body on the same operation. Use a new key for a new request.',
  },
  'idempotency-in-progress': {
    status: 409,
    about:
      'The first request with this Idempotency-Key is still running. Repeat the identical request after a moment; it ' +
      'will be answered with the first response.',
  },
  'approval-exceeded': {
    status: 409,
    title: 'Approval exceeded',
    about:
      'The purchase costs more credits than its approval allows (`required_credits` and `approved_credits`). Nothing was done or ' +
      'reserved. Request a new approval for the present price.',
  },
  'upload-offset': {
    status: 409,
    about: 'The piece does not continue the upload where it stands. `Upload-Offset` says how many bytes have arrived: go on from there.',
  },
  gone: {
    status: 410,
    about:
      'The item is past its retention or was deleted, so its files can no longer be downloaded; an upgrade of the plan ' +
      'brings expired items back. Or its only file could not be converted after the upload: the detail says why.',
  },
  'length-required': { status: 411, about: 'An upload must say its length: send `Content-Length`, and not a chunked transfer encoding.' },
  'precondition-failed': { status: 412, about: 'The object is no longer the one that `If-Match` names.' },
  'payload-too-large': {
    status: 413,
    about:
      'The body is larger than `limit`, the bytes that this address takes: 16 KiB to sign in, 64 KiB for public operations, ' +
      '256 KiB for others, 512 KiB to write an item, 8 MiB to run an analytics method, 10 MiB for an import and 16 MiB for the ' +
      'parameters of a job.',
  },
  'object-too-large': { status: 413, about: 'The file is larger than the signed address allows.' },
  'unsupported-media-type': { status: 415, about: 'Send `Content-Type: application/json` without a content encoding.' },
  'range-not-satisfiable': { status: 416, about: 'The object has no bytes in the range asked for. `Content-Range` says how many it has.' },
  'invalid-input': {
    status: 422,
    about: 'A field is missing, unknown, of the wrong type or out of range. `errors` names each field and what it must be.',
  },
  'unreadable-raster': {
    status: 422,
    about:
      'The file is not a raster that can be read: the detail says what is wrong with it, for example its format, its ' +
      'georeference or its size.',
  },
  'position-required': {
    status: 422,
    about:
      'An uploaded file says nothing usable about where it lies. Repeat `uploads.complete` with `positions`: for each such file its ' +
      '`crs` and either `bounds` or `gcps`. `errors` names the files; they are kept until the session ends.',
  },
  'raster-too-demanding': {
    status: 422,
    about:
      'Reading this part of the file would take more time or memory than one request may use. Ask for a smaller area or a coarser level.',
  },
  'rate-limited': {
    status: 429,
    about:
      'The limit of requests for this credential or address is used up for now. `Retry-After` says after how many seconds to come back.',
  },
  'egress-limited': {
    status: 429,
    about:
      'The organization has downloaded as much as its plan allows for now: in 24 hours, in a minute, or so much at ' +
      'once that downloads pause. `Retry-After` says after how many seconds to come back.',
  },
  'too-many-attempts': { status: 429, about: 'Too many failed attempts. `Retry-After` says after how many seconds to try again.' },
  'caller-left': {
    status: 499,
    title: 'Client Closed Request',
    about:
      'The caller hung up before the answer was made, as maps do when they are moved. Nobody sees this answer; logs and metrics count it.',
  },
  'internal-error': {
    status: 500,
    about: 'Something went wrong on our side; nothing of this request was kept. Quote the `instance` when you report it.',
  },
  'provenance-error': {
    status: 500,
    title: 'Provenance Error',
    about: 'The operation could not record the lineage of what it made, so it was undone. Quote the `instance` when you report it.',
  },
  'bad-gateway': {
    status: 502,
    about: 'A host that the request depends on failed or gave no usable answer. Try again later, or check the address.',
  },
  'gateway-timeout': {
    status: 504,
    about: 'A host that the request depends on did not answer in time. Try again later, or ask for less.',
  },
  'payment-processor-outage': {
    status: 502,
    about:
      'The payment processor gave no usable answer. Repeat the identical request with the same Idempotency-Key: if the ' +
      'payment went through, it is found and not made again.',
  },
  'billing-not-configured': {
    status: 503,
    about: 'This service takes no cards: no payment processor is configured. Everything that is paid from credits goes on working.',
  },
  unavailable: { status: 503, about: 'The service is starting, stopping or overloaded. Try again shortly.' },
  'insufficient-storage': {
    status: 507,
    about:
      'The object store or the database has no room left; the detail says which. The operator must make some. Nothing of the ' +
      'request was kept, apart from what has arrived of an upload, which can be continued.',
  },
} as const satisfies Record<string, { status: number; title?: string; about: string }>

export type ProblemSlug = keyof typeof PROBLEMS

/** Problems that are our own mistakes: they are logged and counted as such. */
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
  /** What went wrong beneath it: logged, never shown. */
  cause?: unknown
}

/** Invalid input is made by `invalidInput` alone, so that it always says which fields are wrong. */
export function problem(slug: Exclude<ProblemSlug, 'invalid-input'>, detail: string, extra?: ProblemExtra): Problem {
  return new Problem(slug, detail, extra)
}

export const notFound = (what: string): Problem => problem('not-found', `No such ${what}`)
/** For names that everybody may know, never for what belongs to somebody. */
export const unknownName = (what: string, given: string, known: readonly string[], otherwise: string): Problem =>
  notFound(`${what} '${given.slice(0, 60)}'${meant(given, known, otherwise)}`)
export const callerLeft = (): Problem => problem('caller-left', 'The caller hung up')
export const accessDenied = (): Problem => problem('forbidden', 'Access denied')

/** At least one error; `members` are further members of the document. */
export function invalidInput(errors: readonly FieldError[], members: Record<string, unknown> = {}): Problem {
  const [{ field, message }] = errors as [FieldError]
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('invalid-input', `${field}: ${message}${more}`, { members: { ...members, errors } })
}

/** The same problem with more to say, for example the schema that the input should have. */
export function withMembers({ slug, message, members, headers }: Problem, more: Record<string, unknown>): Problem {
  return new Problem(slug, message, { members: { ...members, ...more }, headers })
}

export function invalidField(field: string, message: string): Problem {
  return invalidInput([{ field, message }])
}
