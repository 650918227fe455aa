/** VP8 or VP9 in a WebM file that can be searched: each frame has its cluster, and the cues that name them come first. */
import { ByteWriter } from './byte-writer.ts'
import type { VideoTrack } from './video-track.ts'

/** Names of elements, as Matroska numbers them. */
const ID = {
  EBML: 0x1a45dfa3,
  EBMLVersion: 0x4286,
  EBMLReadVersion: 0x42f7,
  EBMLMaxIDLength: 0x42f2,
  EBMLMaxSizeLength: 0x42f3,
  DocType: 0x4282,
  DocTypeVersion: 0x4287,
  DocTypeReadVersion: 0x4285,
  Segment: 0x18538067,
  Info: 0x1549a966,
  TimestampScale: 0x2ad7b1,
  Duration: 0x4489,
  MuxingApp: 0x4d80,
  WritingApp: 0x5741,
  Tracks: 0x1654ae6b,
  TrackEntry: 0xae,
  TrackNumber: 0xd7,
  TrackUID: 0x73c5,
  TrackType: 0x83,
  FlagLacing: 0x9c,
  DefaultDuration: 0x23e383,
  CodecID: 0x86,
  Video: 0xe0,
  PixelWidth: 0xb0,
  PixelHeight: 0xba,
  Cues: 0x1c53bb6b,
  CuePoint: 0xbb,
  CueTime: 0xb3,
  CueTrackPositions: 0xb7,
  CueTrack: 0xf7,
  CueClusterPosition: 0xf1,
  Cluster: 0x1f43b675,
  Timestamp: 0xe7,
  SimpleBlock: 0xa3,
} as const

const NANOSECONDS_PER_MS = 1_000_000
const VIDEO = 1
const KEY_FRAME = 0x80
const APPLICATION = 'Groundtrack'
/** Wide enough for any position, so that the length of the cues does not depend on what they name. */
const NUMBER_SIZE = 6

type Content = Uint8Array | string | number | readonly Element[]
type Element = readonly [name: keyof typeof ID, content: Content]

function bytesOf(content: Content): Uint8Array {
  if (content instanceof Uint8Array) return content
  const bytes = new ByteWriter()
  if (typeof content === 'string') bytes.text(content)
  else if (typeof content === 'number') bytes.bigEndian(content, NUMBER_SIZE)
  else for (const element of content) writeElement(bytes, element)
  return bytes.take()
}

function writeElement(file: ByteWriter, [name, content]: Element): void {
  const id = ID[name]
  file.bigEndian(id, Math.ceil((32 - Math.clz32(id)) / 8))
  const bytes = bytesOf(content)
  file.byte(0x01) // The length has seven more bytes.
  file.bigEndian(bytes.length, 7)
  file.bytes(bytes)
}

function floatOf(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value)
  return bytes
}

function headOf({ codec, width, height, frameMs, frames }: VideoTrack): readonly Element[] {
  return [
    [
      'Info',
      [
        ['TimestampScale', NANOSECONDS_PER_MS],
        ['Duration', floatOf(frames.length * frameMs)],
        ['MuxingApp', APPLICATION],
        ['WritingApp', APPLICATION],
      ],
    ],
    [
      'Tracks',
      [
        [
          'TrackEntry',
          [
            ['TrackNumber', 1],
            ['TrackUID', 1],
            ['TrackType', VIDEO],
            ['FlagLacing', 0],
            ['DefaultDuration', frameMs * NANOSECONDS_PER_MS],
            ['CodecID', codec.startsWith('vp8') ? 'V_VP8' : 'V_VP9'],
            [
              'Video',
              [
                ['PixelWidth', width],
                ['PixelHeight', height],
              ],
            ],
          ],
        ],
      ],
    ],
  ]
}

const cuesOf = (positions: readonly number[], frameMs: number): Element => [
  'Cues',
  positions.map((position, index): Element => [
    'CuePoint',
    [
      ['CueTime', index * frameMs],
      [
        'CueTrackPositions',
        [
          ['CueTrack', 1],
          ['CueClusterPosition', position],
        ],
      ],
    ],
  ]),
]

function clusterOf(frame: Uint8Array, startMs: number): Uint8Array {
  const block = new Uint8Array(frame.length + 4)
  block.set([0x80 | 1, 0, 0, KEY_FRAME]) // The track, and no time after the cluster's own.
  block.set(frame, 4)
  return bytesOf([
    [
      'Cluster',
      [
        ['Timestamp', startMs],
        ['SimpleBlock', block],
      ],
    ],
  ])
}

export function encodeWebm(track: VideoTrack): Uint8Array<ArrayBuffer> {
  const { frames, frameMs } = track
  const head = bytesOf(headOf(track))
  const clusters = frames.map((frame, index) => clusterOf(frame, index * frameMs))
  let next =
    head.length +
    bytesOf([
      cuesOf(
        frames.map(() => 0),
        frameMs,
      ),
    ]).length
  const positions = clusters.map(({ length }) => (next += length) - length)
  const segment = new ByteWriter()
  for (const part of [head, bytesOf([cuesOf(positions, frameMs)]), ...clusters]) segment.bytes(part)
  const file = new ByteWriter()
  writeElement(file, [
    'EBML',
    [
      ['EBMLVersion', 1],
      ['EBMLReadVersion', 1],
      ['EBMLMaxIDLength', 4],
      ['EBMLMaxSizeLength', 8],
      ['DocType', 'webm'],
      ['DocTypeVersion', 4],
      ['DocTypeReadVersion', 2],
    ],
  ])
  writeElement(file, ['Segment', segment.take()])
  return file.take()
}
