/**
 * What a process is: one file in `processes/` says its title, its parameters, what it makes, what it costs and how it runs.
 * The catalogue, estimates, validation, jobs and the OGC description all come from that file.
 *
 * `run` works through `compute`, which hands rasters to a child process block by block and gives back files of this machine.
 * Nothing that it makes is seen by anybody before all of it is: `outputs.ts` stores the files and registers the items, their
 * assets and their lineage in the transaction that completes the job.
 */
import type { Static, TSchema } from 'typebox'
import type { Item } from '#model/imagery/item-read.ts'
import type { JobMeter } from '#model/plans/usage.ts'
import type { Received } from '#core/shapes.ts'
import type { ItemType } from '#core/vocabulary.ts'
import type { ComputedFile, ProcessRequest, RasterSource } from '#ports/raster.ts'
import type { DataType, RasterInfo } from '#raster/types.ts'

export const CATEGORIES = ['geometry', 'bands', 'terrain', 'time', 'vector', 'statistics', 'conversion'] as const
type Category = (typeof CATEGORIES)[number]

/** Credits for each square kilometre, and at least so many. */
interface Price {
  readonly creditsPerKm2: number
  readonly minimumCredits: number
}

/** Rasters that the parameters name: files of an item, or one at an address that the allow-list knows. */
export type SourceWish =
  | {
      /** Where it stands in the parameters, for what is said about it. */
      readonly field: string
      readonly itemId: string
      /** The one that the item is about, all that are rasters, or these. */
      readonly assets: 'primary' | 'rasters' | readonly string[]
      /** The parameter that lists them, where one may name several: then only rasters will do. */
      readonly keysField?: string
    }
  | { readonly field: string; readonly key: string; readonly url: string }

/** A raster to work on. */
export interface Source {
  /** Null where it came by its address. */
  readonly item: Item | null
  /** The key of its asset. */
  readonly key: string
  readonly bandNames: readonly string[] | null
  readonly source: RasterSource
}

/** The same once it was looked at. */
export interface OpenSource extends Source {
  readonly info: RasterInfo
}

/** A file that was made, and what it is to its item. */
export interface ProducedAsset {
  readonly key: string
  readonly title: string
  readonly roles: readonly string[]
  readonly mediaType: string
  /** A file of this machine. */
  readonly path: string
  /** Samples are numbers of classes. */
  readonly isCategorical?: boolean
  readonly bandNames?: readonly string[]
  /** Further fields of STAC that a raster is shown with. */
  readonly stac?: Readonly<Record<string, unknown>>
}

/** An item to be registered, with all its files. */
export interface ProducedItem {
  readonly name: string
  readonly type: ItemType
  readonly description?: string | null
  readonly properties?: Readonly<Record<string, unknown>>
  readonly datetime?: Date | null
  readonly startDatetime?: Date | null
  readonly endDatetime?: Date | null
  readonly cloudCover?: number | null
  /** The collection of the project that such items go to, where the caller named none; it is made when it is missing. */
  readonly home?: { readonly systemKey: string; readonly name: string }
  /** Where it lies, if no raster of it says so. */
  readonly geometry?: Item['geometry']
  /** How it is shown first, instead of what its raster proposes. */
  readonly look?: { readonly name: string; readonly type: 'rgb' | 'singleband' | 'expression'; readonly config: object }
  /** The first one with a raster shows it and says where it lies. */
  readonly assets: readonly ProducedAsset[]
}

export interface Produced {
  readonly items: readonly ProducedItem[]
  /** What is worth knowing beside the items; it stands in the job's `output_artifacts`. */
  readonly summary?: Readonly<Record<string, unknown>>
}

/** What a run has to work with. */
export interface RunContext {
  readonly jobId: string
  readonly now: Date
  readonly signal: AbortSignal
  /** Keeps bytes as a file of this machine until the run has ended, and says where. */
  keep(name: string, bytes: Uint8Array): Promise<string>
  /** Runs one method of the raster library over rasters, in a child process. Stages tell people what is being done. */
  compute(request: Omit<ProcessRequest, 'onProgress' | 'signal'>, stage: Stage): Promise<Computed>
}

/** A part of the whole, from one share to the next, both between 0 and 1. */
export interface Stage {
  readonly name: string
  readonly from?: number
  readonly to?: number
}

export interface Computed {
  /** By the name that they were asked for under. */
  readonly files: Readonly<Record<string, ComputedFile>>
  /** What the method says beside its files. */
  readonly result: Readonly<Record<string, unknown>>
}

/** A raster that a job writes. */
export interface WrittenRaster {
  readonly width: number
  readonly height: number
  readonly bandCount: number
  readonly dataType: DataType
}

/** What a job reads and writes. */
export interface Work {
  /** Samples: pixels times bands. */
  readonly reads: number
  readonly rasters: readonly WrittenRaster[]
  /** Of files that are no rasters. */
  readonly otherBytes?: number
  /** The parameter that would have to change if this is too much; geometry by default. */
  readonly field?: string
}

interface ProcessTerms<I extends TSchema = TSchema> {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly category: Category
  /** Parameters, closed. */
  readonly input: I
  /** What a completed job says of its outputs. */
  readonly output: TSchema
  readonly price: Price
  readonly timeoutMinutes: number
  /** Which of the month's jobs it counts for; processing_jobs by default. */
  readonly meter?: JobMeter
  /** Parameters that pass `input`, for the reference; a test holds them against it. */
  readonly example: Static<I>
}

interface Handler<P> {
  /** Every item that the parameters name, in the order in which `run` gets them. */
  sources(params: P): readonly SourceWish[]
  /** The part of the sources that counts for the price; all of them by default. */
  area?(params: P): { readonly geometry: unknown; readonly field: string } | null
  /** What the schema cannot say. Throws 422. */
  check?(params: P, sources: readonly OpenSource[]): void
  /** How much it reads and writes; from headers alone, before anything is charged. */
  work(params: P, sources: readonly OpenSource[]): Work
  run(context: RunContext, params: P, sources: readonly OpenSource[]): Promise<Produced>
}

export function process<I extends TSchema>(terms: ProcessTerms<I>) {
  return { handle: (handler: Handler<Received<I>>) => Object.freeze({ ...terms, ...handler }) as AnyProcess }
}

// The catalogue erases the types; `validateParams` earns them back.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyProcess = ProcessTerms & Handler<any>
