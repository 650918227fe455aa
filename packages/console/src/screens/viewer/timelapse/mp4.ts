/** H.264 in an MP4 file whose index comes first, so that it plays while it is loaded. */
import { ByteWriter } from './byte-writer.ts'
import type { VideoTrack } from './video-track.ts'

const TICKS_PER_SECOND = 1_000
const HEADER = 8
const UNITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]
/** Undetermined, in three letters of five bits. */
const LANGUAGE = 0x55c4

type Content = (file: ByteWriter) => void

function box(name: string, ...contents: readonly Content[]): Content {
  return (file) => {
    const inside = new ByteWriter()
    for (const content of contents) content(inside)
    file.bigEndian(inside.length + HEADER, 4)
    file.text(name)
    file.bytes(inside.take())
  }
}

/** A box with a version, which is 0, and flags. */
const fullBox = (name: string, flags: number, ...contents: readonly Content[]) => box(name, longs(flags), ...contents)

const longs =
  (...values: readonly number[]): Content =>
  (file) => {
    for (const value of values) file.bigEndian(value, 4)
  }

const shorts =
  (...values: readonly number[]): Content =>
  (file) => {
    for (const value of values) file.bigEndian(value, 2)
  }

const text =
  (latin: string): Content =>
  (file) =>
    file.text(latin)

const raw =
  (bytes: Uint8Array): Content =>
  (file) =>
    file.bytes(bytes)

function sampleEntry({ width, height, description }: VideoTrack): Content {
  if (!description) throw new Error('The browser did not describe its video.')
  const [resolution, depth, noPalette] = [0x00480000, 24, 0xffff]
  return box(
    'avc1',
    longs(0),
    shorts(0, 1),
    longs(0, 0, 0, 0),
    shorts(width, height),
    longs(resolution, resolution, 0),
    shorts(1),
    raw(new Uint8Array(32)),
    shorts(depth, noPalette),
    box('avcC', raw(description)),
  )
}

function sampleTable(track: VideoTrack, firstByte: number): Content {
  const { frames, frameMs } = track
  return box(
    'stbl',
    fullBox('stsd', 0, longs(1), sampleEntry(track)),
    fullBox('stts', 0, longs(1, frames.length, frameMs)),
    fullBox('stsc', 0, longs(1, 1, frames.length, 1)), // All in one chunk.
    fullBox('stsz', 0, longs(0, frames.length, ...frames.map(({ length }) => length))),
    fullBox('stco', 0, longs(1, firstByte)),
  )
}

function index(track: VideoTrack, firstByte: number): Content {
  const { width, height, frames, frameMs } = track
  const duration = frames.length * frameMs
  const data = box('dinf', fullBox('dref', 0, longs(1), fullBox('url ', 1)))
  const media = box(
    'mdia',
    fullBox('mdhd', 0, longs(0, 0, TICKS_PER_SECOND, duration), shorts(LANGUAGE, 0)),
    fullBox('hdlr', 0, longs(0), text('vide'), longs(0, 0, 0), text('Video\0')),
    box('minf', fullBox('vmhd', 1, shorts(0, 0, 0, 0)), data, sampleTable(track, firstByte)),
  )
  const isShown = 3
  const place = fullBox(
    'tkhd',
    isShown,
    longs(0, 0, 1, 0, duration, 0, 0),
    shorts(0, 0, 0, 0),
    longs(...UNITY, width * 0x10000, height * 0x10000),
  )
  const whole = fullBox(
    'mvhd',
    0,
    longs(0, 0, TICKS_PER_SECOND, duration, 0x10000),
    shorts(0x100, 0),
    longs(0, 0, ...UNITY, 0, 0, 0, 0, 0, 0, 2),
  )
  return box('moov', whole, box('trak', place, media))
}

export function encodeMp4(track: VideoTrack): Uint8Array<ArrayBuffer> {
  const file = new ByteWriter()
  box('ftyp', text('isom'), longs(0x200), text('isomiso2avc1mp41'))(file)
  const measured = new ByteWriter()
  index(track, 0)(measured) // Its length does not depend on the position that it states.
  index(track, file.length + measured.length + HEADER)(file)
  box('mdat', ...track.frames.map(raw))(file)
  return file.take()
}
