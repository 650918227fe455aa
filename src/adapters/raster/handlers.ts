/** The handlers of the raster pool's child processes: they open only sources that the parent has approved. */
import { createEgress, EgressError, type Egress, type EgressRefusal } from '#adapters/egress/guard.ts'
import { createHandlers, type StackFiles } from '#raster/pool/handlers.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openHttpSource, type HttpFetch } from '#raster/source/http.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import { RasterError, type Source } from '#raster/types.ts'
import { withSignature, type Send } from './signature.ts'
import { stacLines } from './stac-table.ts'

/** A source as it is sent to the child, which has no configuration of its own. */
export interface OpenableSource {
  readonly path?: string
  readonly url?: string
  /** Cache key of the content for a signed URL, which changes over time. */
  readonly name?: string
  /** Hosts that `url` and its redirects may use. */
  readonly hosts: readonly string[]
  /** Hosts that may be private or use plain http. */
  readonly egressAllow: readonly string[]
  /** How many times longer than usual its host may take. */
  readonly deadlineFactor?: number
  /** Whether `url` can only be read with a signature, which the parent provides. */
  readonly isSigned?: boolean
  /** Key of the content that the parent identified; other content is an error. */
  readonly expectedKey?: string
  /** Instead of one file: those of a stack. */
  readonly stack?: StackFiles<OpenableSource>
}

/** Time until a host starts to respond, and for each later pause; the source limits the time of a whole range. */
const PAUSE_MS = 10_000
const RANGE_MS = 15_000
const MAX_REDIRECTS = 3

/** One guard per list of exceptions; a process has one list. */
const guards = new Map<string, Egress>()

const factorOf = ({ deadlineFactor = 1 }: OpenableSource): number => deadlineFactor

async function open(source: OpenableSource, signal: AbortSignal): Promise<TiffRaster> {
  const bytes: Source =
    source.path === undefined
      ? await openHttpSource(source.url!, {
          fetch: guardedFetch(source),
          name: source.name,
          deadlineMs: RANGE_MS * factorOf(source),
          signal,
        })
      : await openFileSource(source.path)
  try {
    if (source.expectedKey !== undefined && bytes.key !== source.expectedKey)
      throw new RasterError('source_changed', 'The file changed while it was being read; try again')
    return await openTiff(bytes, { signal })
  } catch (error) {
    await bytes.close?.()
    throw error
  }
}

function guardedFetch(source: OpenableSource): HttpFetch {
  const name = source.egressAllow.join(',')
  const egress = guards.get(name) ?? createEgress({ allow: source.egressAllow })
  guards.set(name, egress)
  const permit = (url: URL) => source.hosts.includes(url.hostname) || source.hosts.includes(url.host)
  const pauseMs = PAUSE_MS * factorOf(source)
  const send: Send = (url, { headers, signal }) =>
    egress.open(url, { headers, signal, permit, maxRedirects: MAX_REDIRECTS, deadlineMs: pauseMs, idleMs: pauseMs }).catch(refused)
  const open = source.isSigned ? withSignature(send) : send
  return async (url, init) => {
    const answer = await open(url, init)
    return {
      status: answer.status,
      headers: { get: (header: string) => answer.headers[header.toLowerCase()] ?? null },
      body: withRasterErrors(answer.body),
    }
  }
}

async function* withRasterErrors(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    refused(error)
  }
}

/** Errors of the caller, as opposed to errors of the host. */
const CALLERS_FAULT: readonly EgressRefusal[] = ['address', 'scheme', 'credentials', 'private', 'host']

function refused(error: unknown): never {
  if (!(error instanceof EgressError)) throw error
  throw new RasterError(CALLERS_FAULT.includes(error.kind) ? 'invalid_argument' : 'source_unavailable', error.message)
}

/** Tables are not rasters, but they are untrusted files too. */
const table = async ({ bytes, maxRows }: { bytes: Uint8Array; maxRows: number }, signal: AbortSignal): Promise<string[]> =>
  stacLines(bytes, maxRows, signal)

export const handlers = { ...createHandlers({ open, stackOf: ({ stack }) => stack ?? null }), table }
