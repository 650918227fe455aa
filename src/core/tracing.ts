/**
 * Traces of what the service does: one span for each request, stage, statement, raster task, background task and delivery. The parts of
 * the service describe their work here; where the spans go is decided at the start (start/tracing.ts). Without a tracer, which is the
 * default, `traced` only calls its work.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'
export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span as W3C Trace Context writes it, for whoever continues the trace. */
  readonly traceparent: string
  /** False once it has ended: work that outlives its span, such as a shared cache, is not part of it. */
  readonly isOpen: boolean
  rename(name: string): void
  /** Never secrets, values of SQL parameters, addresses or names of people. */
  set(attributes: Attributes): void
  fail(error: unknown): void
  end(): void
}

export interface SpanOptions {
  readonly kind?: SpanKind
  readonly attributes?: Attributes
}

export interface Tracer {
  /** `parent` is a traceparent; without one, or with an invalid one, a new trace begins. */
  start(name: string, parent: string | null, options: SpanOptions): Span
}

const current = new AsyncLocalStorage<Span>()
let tracer: Tracer | null = null

/** Records spans from now on, until the returned function is called. */
export function installTracer(installed: Tracer): () => void {
  tracer = installed
  return () => {
    if (tracer === installed) tracer = null
  }
}

export const isTracing = (): boolean => tracer !== null

export function currentSpan(): Span | null {
  if (tracer === null) return null
  const span = current.getStore()
  return span?.isOpen ? span : null
}

/** Null without a tracer. */
export const startSpan = (name: string, parent: string | null, options: SpanOptions = {}): Span | null =>
  tracer?.start(name, parent, options) ?? null

/** Everything that `work` starts belongs to the span. */
export const withSpan = <T>(span: Span, work: () => T): T => current.run(span, work)

/** For work that many callers share, whoever started it: it belongs to no trace. */
export const untraced = <T>(work: () => T): T => (tracer === null ? work() : current.exit(work))

/** Runs `work` as a part of the current span; outside of one, nothing is recorded. `options` are only computed if they are needed. */
export function traced<T>(name: string, work: (span: Span | null) => Promise<T>, options?: () => SpanOptions): Promise<T> {
  if (tracer === null) return work(null)
  const parent = currentSpan()
  return parent === null ? work(null) : recorded(tracer.start(name, parent.traceparent, options?.() ?? {}), work)
}

/** Runs `work` as a span that continues the trace of `parent`, or begins one. */
export function tracedFrom<T>(
  parent: string | null,
  name: string,
  work: (span: Span | null) => Promise<T>,
  options: () => SpanOptions,
): Promise<T> {
  return tracer === null ? work(null) : recorded(tracer.start(name, parent, options()), work)
}

async function recorded<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await current.run(span, () => work(span))
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

const LITERALS = /'(?:[^']|'')*'|\$([A-Za-z_]*)\$.*?\$\1\$|(?<![\w$.])\d+(?:\.\d+)?\b/gs
const MAX_STATEMENT_LENGTH = 2_000

/** A statement without its values: parameters stay `$1`, and whatever is written in the text becomes `?`. */
export const statementText = (text: string): string =>
  text.slice(0, MAX_STATEMENT_LENGTH).replaceAll(LITERALS, '?').replaceAll(/'.*$/gs, '?').replaceAll(/\s+/g, ' ').trim()

const COMMENTS = /\/\*.*?\*\//gs

/** `select`, `insert`, `begin`: the name of a statement's span. */
export const statementName = (text: string): string => /[a-z]+/i.exec(text.replaceAll(COMMENTS, ''))?.[0].toLowerCase() ?? 'statement'
