import { pino, type Logger } from 'pino'
import type { DestinationStream } from 'pino'

/** One JSON line per event. Secrets are redacted here, for every caller. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: {
      paths: [
        '*.password',
        '*.key',
        '*.token',
        '*.access_token',
        '*.refresh_token',
        '*.secret',
        '*.authorization',
        'password',
        'key',
        'token',
        'secret',
      ],
      censor: '[struck]',
    },
    serializers: { err: describeError },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Message, code and stack, but not the fields of a database error that quote values (`detail`, `where`, `parameters`). */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: redact(String(error)) }
  const { name, message, stack } = error
  const code = (error as { code?: unknown }).code
  const cause = error.cause === undefined ? {} : { cause: redact(error.cause instanceof Error ? error.cause.message : String(error.cause)) }
  return { name, message: redact(message), stack: redact(stack ?? ''), ...(code === undefined ? {} : { code }), ...cause }
}

const SECRET_SHAPES = new RegExp(
  [
    /svc_[0-9A-Za-z]{8}_[0-9A-Za-z]+/,
    /eyJ[\w-]+\.[\w-]+\.[\w-]*/,
    /whsec_[\w+/=-]+/,
    /sh[rg]_[\w-]+/,
    /inv_[\w-]{20,}/,
    /([?&](?:key|token|password|grant|signature|X-Amz-Signature|X-Amz-Security-Token)=)[^&\s"]+/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** Redacts secrets of this service in free text and URLs. */
export function redact(text: string): string {
  return text.replaceAll(SECRET_SHAPES, (_match, name: string | undefined) => `${name ?? ''}[struck]`)
}
