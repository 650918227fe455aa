/**
 * The definition of a process: one file in `processes/` has its title, parameters, outputs, price and code. The catalogue,
 * estimates, validation, jobs and the OGC description are derived from it.
 *
 * `run` uses `compute`, which processes rasters block by block in a child process and returns local files. Outputs become
 * visible all at once: `outputs.ts` stores the files, then registers items, assets and lineage in the transaction that
 * completes the job.
 */
import type { Static, TSchema } from 'typebox'
import type { Item } from '#model/imagery/item-read.ts'
import type { NewItem } from '#model/imagery/item-write.ts'
import type { JobMeter } from '#model/plans/usage.ts'
import type { Received } from '#core/shapes.ts'
import type { ItemType } from '#core/vocabulary.ts'
import type { ComputedFile, FileSource, ProcessRequest, RasterSource } from '#ports/raster.ts'
import type { DataType, RasterInfo } from '#raster/types.ts'

export const CATEGORIES = ['geometry', 'bands', 'terrain', 'time', 'vector', 'statistics', 'conversion'] as const
type Category = (typeof CATEGORIES)[number]

/** Credits per square kilometre, with a minimum. */
interface Price {
  readonly creditsPerKm2: number
  readonly minimumCredits: number
}

/** Rasters that the parameters name: files of an item, a URL on an allowed host, or files of an open scene. */
export type SourceRequest =
  | {
      /** The parameter that names it, for error messages. */
      readonly field: string
      readonly itemId: string
      /** The main raster, all rasters, or these asset keys. */
      readonly assets: 'primary' | 'rasters' | readonly string[]
      /** Assets that are not bands of the main raster, if that has one file per band. */
      readonly without?: readonly string[]
      /** The parameter with the asset keys; if set, each must be a raster. */
      readonly keysField?: string
    }
  | { readonly field: string; readonly key: string; readonly url: string }
  /** Files of an open scene at its host; all by default. */
  | {
      readonly field: string
      readonly scene: { readonly hostName: string; readonly id: string }
      readonly assets: readonly string[] | null
    }

/** A raster to work on. */
export interface Source {
  /** Null for a raster by URL. */
  readonly item: Item | null
  /** Asset key. */
  readonly key: string
  readonly bandNames: readonly string[] | null
  readonly source: RasterSource
  /** Roles of the file, and what its catalogue states about its bands, in STAC's names. */
  readonly stated?: { readonly roles: readonly string[]; readonly fields: Readonly<Record<string, unknown>> }
  /** The open scene that it is a file of, as an item that refers to its host. */
  readonly scene?: NewItem
}

/** A source whose header was read. */
export interface OpenSource extends Source {
  readonly info: RasterInfo
}

/** An output file of a run, and its role in the item. */
export interface ProducedAsset {
  readonly key: string
  readonly title: string
  readonly roles: readonly string[]
  readonly mediaType: string
  /** A local file. */
  readonly path: string
  /** Whether pixel values are class codes. */
  readonly isCategorical?: boolean
  readonly bandNames?: readonly string[]
  /** Additional STAC fields of the asset. */
  readonly stac?: Readonly<Record<string, unknown>>
}

/** An item to register, with its files. */
export interface ProducedItem {
  readonly name: string
  readonly type: ItemType
  /** The item's own ID by default. */
  readonly stacId?: string
  readonly description?: string | null
  readonly properties?: Readonly<Record<string, unknown>>
  readonly datetime?: Date | null
  readonly startDatetime?: Date | null
  readonly endDatetime?: Date | null
  readonly cloudCover?: number | null
  /** The system collection for such items unless the caller named one; created if missing. */
  readonly defaultCollection?: { readonly systemKey: string; readonly name: string }
  /** Footprint of an item without a raster. */
  readonly geometry?: Item['geometry']
  /** Default style; proposed from the raster if absent. */
  readonly style?: { readonly name: string; readonly type: 'rgb' | 'singleband' | 'expression'; readonly config: object }
  /** The first raster gives the item's default style and footprint. */
  readonly assets: readonly ProducedAsset[]
}

export interface Produced {
  readonly items: readonly ProducedItem[]
  /** Additional results for the job's `output_artifacts`. */
  readonly summary?: Readonly<Record<string, unknown>>
}

/** What a run receives. */
export interface RunContext {
  readonly jobId: string
  readonly now: Date
  readonly signal: AbortSignal
  /** Writes bytes to a local file that exists until the run ends; returns its path. */
  saveFile(name: string, bytes: Uint8Array): Promise<string>
  /** Fetches a file of an open scene, unchanged; returns its path. */
  download(file: DownloadedFile, stage: Stage): Promise<string>
  /** Runs a method of the raster library in a child process. The stage is shown as the job's progress. */
  compute(request: Request, stage: Stage): Promise<Computed>
  /** Runs many methods that do not depend on each other; in a large job, on as many machines as there are. In their order. */
  computeEach(requests: readonly Request[], stage: Stage): Promise<ComputedAnywhere[]>
  /** How many parts the job is divided into, by its size; 1 if it is not. */
  readonly partCount: number
  /** The path of a file that `computeEach` gave. */
  localFile(file: FileSource): Promise<string>
}

type Request = Omit<ProcessRequest, 'onProgress' | 'signal' | 'part'>

/** A file at its host, and what the catalogue states about it. */
export interface DownloadedFile {
  readonly key: string
  readonly url: string
  readonly sizeBytes: number | null
  /** A multihash in hexadecimal, as `file:checksum` of STAC. */
  readonly checksum: string | null
}

/** A part of the run, as fractions of the whole between 0 and 1. */
export interface Stage {
  readonly name: string
  readonly from?: number
  readonly to?: number
}

export interface Computed {
  /** By requested output name. */
  readonly files: Readonly<Record<string, ComputedFile>>
  /** Results of the method in addition to its files. */
  readonly result: Readonly<Record<string, unknown>>
}

/** The same, with files that are local or in the store. */
export interface ComputedAnywhere {
  readonly files: Readonly<Record<string, FileSource>>
  readonly result: Readonly<Record<string, unknown>>
}

/** Dimensions of a raster that a job writes. */
export interface WrittenRaster {
  readonly width: number
  readonly height: number
  readonly bandCount: number
  readonly dataType: DataType
}

/** The amount of data that a job reads and writes. */
export interface Work {
  /** Samples read: pixels times bands. */
  readonly reads: number
  readonly rasters: readonly WrittenRaster[]
  /** Size of outputs other than rasters. */
  readonly otherBytes?: number
  /** The parameter to name if this exceeds a limit; geometry by default. */
  readonly field?: string
}

interface ProcessTerms<I extends TSchema = TSchema> {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly category: Category
  /** Closed schema of the parameters. */
  readonly input: I
  /** Schema of a completed job's outputs. */
  readonly output: TSchema
  readonly price: Price
  readonly timeoutMinutes: number
  /** The monthly quota that it counts against; processing_jobs by default. */
  readonly meter?: JobMeter
  /** The operation that creates such jobs, if `processing.create` does not. */
  readonly createdBy?: string
  /** Example parameters for the reference; a test validates them against `input`. */
  readonly example: Static<I>
}

interface Handler<P> {
  /** The rasters that the parameters name, in the order in which `run` receives them. */
  sources(params: P): readonly SourceRequest[]
  /** The area that counts for the price; the sources' whole area by default. */
  area?(params: P): { readonly geometry: unknown; readonly field: string } | null
  /** Whether these parameters cost nothing. */
  isFree?(params: P): boolean
  /** Checks what the schema cannot express. Throws 422. */
  check?(params: P, sources: readonly OpenSource[]): void
  /** Computed from headers alone, before anything is charged. */
  work(params: P, sources: readonly OpenSource[]): Work
  run(context: RunContext, params: P, sources: readonly OpenSource[]): Promise<Produced>
}

export function process<I extends TSchema>(terms: ProcessTerms<I>) {
  return { handle: (handler: Handler<Received<I>>) => Object.freeze({ ...terms, ...handler }) as AnyProcess }
}

// The catalogue erases the parameter types; `validateParams` makes the call safe again.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyProcess = ProcessTerms & Handler<any>
