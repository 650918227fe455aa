import type { ExactSampleArray } from '#raster/types.ts';
import type { ReduceShape, RowReducer, RowView } from '#raster/write/reduce.ts';

/**
 * Nearest and mode: coarse pixels that are one of the fine ones, for classes, palettes and flags.
 * Nearest takes the fine pixel under the coarse one's centre; mode the most frequent sample among
 * the up to four fine pixels whose centres the coarse one covers, the first seen where two are equal.
 */
export class PickReducer implements RowReducer {
  readonly #shape: ReduceShape;
  readonly #isMode: boolean;
  readonly #columns: Spans;
  readonly #rows: Spans;
  #held: HeldRow[] = [];
  #fineRow = 0;
  #coarseRow = 0;

  constructor(shape: ReduceShape, isMode: boolean) {
    this.#shape = shape;
    this.#isMode = isMode;
    const span = isMode ? coveredSpans : centreSpans;
    this.#columns = span(shape.fine.width, shape.coarse.width);
    this.#rows = span(shape.fine.height, shape.coarse.height);
  }

  push(row: RowView, out: RowView): boolean {
    const y = this.#fineRow++;
    const first = this.#rows.first[this.#coarseRow] ?? 0;
    const last = first + (this.#rows.count[this.#coarseRow] ?? 1) - 1;
    if (y < first || this.#coarseRow >= this.#shape.coarse.height) return false;
    this.#held.push(copyRow(row, this.#shape));
    if (y < last) return false;
    this.#emit(out);
    this.#held = [];
    this.#coarseRow++;
    return true;
  }

  #emit(out: RowView): void {
    const { bandCount, coarse } = this.#shape;
    for (let x = 0; x < coarse.width; x++) {
      const pixels = this.#pixelsUnder(x);
      const seen = pixels.filter(({ row, x: fineX }) => !row.mask || row.mask[fineX]);
      for (let band = 0; band < bandCount; band++) {
        const values = (seen.length > 0 ? seen : pixels).map(({ row, x: fineX }) => row.samples[fineX * bandCount + band] ?? 0);
        const chosen = this.#isMode ? mostFrequent(values, this.#shape.nodata) : values[0];
        setSample(out.samples, out.sampleAt + x * bandCount + band, chosen ?? 0);
      }
      if (out.mask) out.mask[out.maskAt + x] = seen.length > 0 ? 255 : 0;
    }
  }

  #pixelsUnder(x: number): { row: HeldRow; x: number }[] {
    const first = this.#columns.first[x] ?? 0;
    const count = this.#columns.count[x] ?? 1;
    return this.#held.flatMap((row) => Array.from({ length: count }, (_, k) => ({ row, x: first + k })));
  }
}

interface HeldRow {
  readonly samples: ExactSampleArray;
  readonly mask: Uint8Array | null;
}

interface Spans {
  readonly first: Uint32Array;
  readonly count: Uint8Array;
}

function copyRow(row: RowView, shape: ReduceShape): HeldRow {
  const { width } = shape.fine;
  return {
    samples: row.samples.slice(row.sampleAt, row.sampleAt + width * shape.bandCount),
    mask: row.mask?.slice(row.maskAt, row.maskAt + width) ?? null,
  };
}

function centreSpans(fine: number, coarse: number): Spans {
  const first = Uint32Array.from({ length: coarse }, (_, i) => Math.min(fine - 1, Math.floor(((i + 0.5) * fine) / coarse)));
  return { first, count: new Uint8Array(coarse).fill(1) };
}

function coveredSpans(fine: number, coarse: number): Spans {
  const border = (i: number): number => Math.floor((i * fine) / coarse + 0.5);
  const first = Uint32Array.from({ length: coarse }, (_, i) => Math.min(border(i), fine - 1));
  const count = Uint8Array.from({ length: coarse }, (_, i) => Math.max(1, Math.min(border(i + 1), fine) - border(i)));
  return { first, count };
}

/** Nodata loses against any class. */
function mostFrequent(values: readonly (number | bigint)[], nodata: number | null): number | bigint | undefined {
  const isData = (value: number | bigint): boolean => nodata === null || (Number(value) !== nodata && !(Number.isNaN(nodata) && Number.isNaN(value)));
  const data = values.filter(isData);
  let best = data[0] ?? values[0];
  let bestCount = 0;
  for (const value of data) {
    const count = data.filter((other) => Object.is(other, value)).length;
    if (count > bestCount) {
      best = value;
      bestCount = count;
    }
  }
  return best;
}

function setSample(samples: ExactSampleArray, at: number, value: number | bigint): void {
  (samples as { [index: number]: number | bigint })[at] = value;
}
