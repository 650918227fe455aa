/** Identifies the files of a stack that are used, and describes them as one raster. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { FileSource, StackSource } from '#ports/raster.ts'
import { assetOf, assetProblem, requireStackBands, type StackBand } from '#raster/stack/band.ts'
import { describeStack, requireOverlap } from '#raster/stack/info.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import type { Failure } from '#raster/zonal/series.ts'

/** A file whose content is identified. */
interface SeenFile {
  readonly key: string
  readonly info: RasterInfo
}

/** The identified content of a stack. A file that is not used is null. */
export interface SeenStack<F extends SeenFile = SeenFile> {
  readonly key: string
  readonly info: RasterInfo
  readonly files: readonly (F | { readonly problem: string } | null)[]
}

type IdentifyFiles<F> = (files: readonly FileSource[], signal: AbortSignal | undefined) => Promise<(F | { failure: Failure })[]>

const MAX_DESCRIBED = 1_000

/** Zero-based members that are used; all of them if the use is unknown. */
export const usedMembers = ({ stack, used }: StackSource): number[] =>
  used ? used.map((band) => band - 1).filter((index) => index in stack) : stack.map((_, index) => index)

/** The bands without their files. */
export const bandsOf = (stack: StackSource['stack']): StackBand[] => stack.map(({ source: _source, problem: _problem, ...band }) => band)

export function createStacks<F extends SeenFile>(identifyFiles: IdentifyFiles<F>) {
  /** The same object for the same content, because styles and extents are cached with it. */
  const described = new LRUCache<string, RasterInfo>({ max: MAX_DESCRIBED })

  const open = async (source: StackSource, members: readonly number[], signal: AbortSignal | undefined): Promise<SeenStack<F>['files']> => {
    const { stack, used } = source
    const files: (F | { problem: string } | null)[] = stack.map(() => null)
    const openable = members.filter((index) => stack[index]!.problem === undefined)
    const opened = await identifyFiles(
      openable.map((index) => stack[index]!.source),
      signal,
    )
    openable.forEach((index, at) => {
      const file = opened[at]!
      files[index] = 'failure' in file ? { problem: assetProblem(assetOf(stack[index]!), file.failure) } : file
      if (used && 'failure' in file) throw new RasterError(file.failure.code, assetProblem(assetOf(stack[index]!), file.failure))
    })
    for (const index of members) {
      const { problem } = stack[index]!
      if (problem !== undefined && used) throw new RasterError('invalid_argument', problem)
      if (problem !== undefined) files[index] = { problem }
    }
    return files
  }

  const asRaster = ({ stack, used }: StackSource, files: SeenStack<F>['files']): SeenStack<F> => {
    if (!files.some(isReadable)) throw new RasterError('source_unavailable', firstProblem(files))
    const bands = bandsOf(stack)
    const key = digest([bands, used !== undefined, files.map((file) => (isReadable(file) ? file.key : file))])
    const headers = files.map((file) => (isReadable(file) ? file.info : (file ?? null)))
    if (used && !described.has(key)) requireOverlap(bands, headers)
    const info = described.get(key) ?? describeStack(bands, headers)
    described.set(key, info)
    return { key, info, files }
  }

  /** With known use, every used file must be readable. Otherwise a file that is not is reported with its band. */
  const identify = async (source: StackSource, signal: AbortSignal | undefined): Promise<SeenStack<F>> => {
    requireStackBands(source.stack)
    return asRaster(source, await open(source, usedMembers(source), signal))
  }

  return {
    identify,
    /** Opens only the finest file if the catalogue states which one that is. */
    async describe(source: StackSource, signal: AbortSignal | undefined): Promise<SeenStack<F>> {
      requireStackBands(source.stack)
      const finest = source.used ? null : finestStated(source.stack)
      const files = finest === null ? null : await open(source, [finest], signal)
      return files?.some(isReadable) ? asRaster(source, files) : identify(source, signal)
    },
  }
}

const isReadable = <F extends SeenFile>(file: F | { readonly problem: string } | null | undefined): file is F =>
  file != null && 'info' in file

const firstProblem = (files: SeenStack['files']): string =>
  files.flatMap((file) => (file && 'problem' in file ? [file.problem] : []))[0] ?? 'No file of the stack can be read'

/** The finest band if the catalogue states all resolutions: the others need not be opened to describe the stack. */
function finestStated(stack: readonly StackBand[]): number | null {
  const resolutions = stack.map(({ resolutionM }) => resolutionM ?? Number.NaN)
  const finest = resolutions.indexOf(Math.min(...resolutions))
  return finest === -1 ? null : finest
}

const digest = (identity: unknown): string =>
  `stack:${createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 27)}`
