/**
 * What a file from outside may ask of us. A file that asks for more is refused with a typed error
 * before anything is allocated for it.
 */

const MIB = 1024 * 1024

export const LIMITS = {
  /** Directories in one file: a COG has one a level and one a mask. */
  ifdCount: 64,
  /** Entries in one directory: the widest files in the wild have about 60. */
  ifdEntryCount: 1024,
  /** Pixels along one side. */
  sidePx: 1_000_000,
  /** Pixels in one tile. */
  tilePx: 2048 * 2048,
  bandCount: 64,
  /** Bytes of one tag's value. */
  tagBytes: 16 * MIB,
  /** Bytes of tag values that one file may make us hold. */
  tagBytesTotal: 48 * MIB,
  /** Values of one numeric tag; tables of block offsets are read page by page and may be longer. */
  tagValueCount: 1_000_000,
  /**
   * Decoded bytes of one block, also of a strip, which has no pixel limit of its own. A predictor needs
   * the same again, so that the worst block stays well below 200 MB.
   */
  blockBytes: 64 * MIB,
  /** Stored bytes of one block may exceed the decoded ones by this factor and constant: codecs grow noise a little. */
  storedBlockGrowth: 2,
  storedBlockSlackBytes: 64 * 1024,
  /** Decoded bytes of the blocks that one window reads at the same time; one block is always allowed. */
  blockBytesInFlight: 64 * MIB,
  /** Samples of a window assembled at once. */
  windowBytes: 256 * MIB,
  /** Uncompressed strips taller than this are read as several blocks. */
  rawStripBytes: MIB,
  gcpCount: 100_000,
  metadataItemCount: 10_000,
} as const
