/** Spans in the form that OTLP sends (https://opentelemetry.io/docs/specs/otlp/), and the W3C Trace Context that connects them. */
import { randomBytes } from 'node:crypto'
import { Problem } from '#core/problem.ts'
import type { Attributes, Span, SpanKind, Tracer } from '#core/tracing.ts'
import type { Sampler } from '#core/trace-sampler.ts'

/** A key and value of OTLP's JSON. */
export interface KeyValue {
  key: string
  value: { stringValue: string } | { intValue: string } | { doubleValue: number } | { boolValue: boolean }
}

/** A finished span, as OTLP's JSON has it: IDs in hexadecimal, 64-bit numbers as text. */
export interface FinishedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  flags: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: KeyValue[]
  status: { code?: number }
}

interface Parent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }
const STATUS_ERROR = 2
const SAMPLED = 1
const MAX_TEXT_LENGTH = 2_000

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** Null for what is not a traceparent; a later version of the format can have more parts. */
export function parentOf(traceparent: string | null): Parent | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return null
  if (traceparent!.startsWith('00-') && traceparent!.length !== 55) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED }
}

export const createTracer = (sampler: Sampler, finished: (span: FinishedSpan) => void): Tracer => ({
  start(name, traceparent, { kind = 'internal', attributes = {} }) {
    const parent = parentOf(traceparent)
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
    const isSampled = sampler(traceId, parent?.isSampled ?? null)
    const identity = { traceId, spanId: randomBytes(8).toString('hex') }
    return isSampled ? new RecordedSpan(identity, { name, kind, attributes, parent }, finished) : new UnrecordedSpan(identity)
  },
})

interface Identity {
  traceId: string
  spanId: string
}

/** Carries the decision not to record to everything below it. */
class UnrecordedSpan implements Span {
  readonly traceId: string
  readonly traceparent: string
  isOpen = true

  constructor({ traceId, spanId }: Identity) {
    this.traceId = traceId
    this.traceparent = `00-${traceId}-${spanId}-00`
  }

  rename(): void {}
  set(): void {}
  fail(): void {}
  end(): void {
    this.isOpen = false
  }
}

class RecordedSpan implements Span {
  readonly traceId: string
  readonly traceparent: string
  isOpen = true
  readonly #span: FinishedSpan
  readonly #attributes: Record<string, Attributes[string]>
  readonly #finished: (span: FinishedSpan) => void

  constructor(
    { traceId, spanId }: Identity,
    { name, kind, attributes, parent }: { name: string; kind: SpanKind; attributes: Attributes; parent: Parent | null },
    finished: (span: FinishedSpan) => void,
  ) {
    this.traceId = traceId
    this.traceparent = `00-${traceId}-${spanId}-01`
    this.#attributes = { ...attributes }
    this.#finished = finished
    this.#span = {
      traceId,
      spanId,
      ...(parent ? { parentSpanId: parent.spanId } : {}),
      name,
      kind: KINDS[kind],
      flags: SAMPLED,
      startTimeUnixNano: nanoseconds(),
      endTimeUnixNano: '',
      attributes: [],
      status: {},
    }
  }

  rename(name: string): void {
    this.#span.name = name
  }

  set(attributes: Attributes): void {
    Object.assign(this.#attributes, attributes)
  }

  /** The kind of error only: its message can name people and files. */
  fail(error: unknown): void {
    this.#span.status.code = STATUS_ERROR
    this.set({ 'error.type': error instanceof Problem ? error.slug : error instanceof Error ? error.name : String(error) })
  }

  end(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#finished({ ...this.#span, endTimeUnixNano: nanoseconds(), attributes: keyValues(this.#attributes) })
  }
}

/** Of the monotonic clock, so that a span never ends before it began. */
const nanoseconds = (): string => {
  const now = performance.timeOrigin + performance.now()
  const whole = Math.floor(now)
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.floor((now - whole) * 1_000_000)))
}

export const keyValues = (attributes: Attributes): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => {
    if (typeof value === 'string') return { key, value: { stringValue: value.slice(0, MAX_TEXT_LENGTH).toWellFormed() } }
    if (typeof value === 'boolean') return { key, value: { boolValue: value } }
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }
  })
