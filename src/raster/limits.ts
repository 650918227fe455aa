/**
 * Limits for untrusted files. A file that exceeds one is rejected with a typed error
 * before anything is allocated for it.
 */

const MIB = 1024 * 1024

export const LIMITS = {
  /** Directories per file: a COG has one per level and one per mask. */
  ifdCount: 64,
  /** Entries per directory: the largest files in practice have about 60. */
  ifdEntryCount: 1024,
  /** Pixels along one side. */
  sidePx: 1_000_000,
  /** Pixels in one tile. */
  tilePx: 2048 * 2048,
  bandCount: 64,
  /** Bytes of one tag's value. */
  tagBytes: 16 * MIB,
  /** Total bytes of tag values per file. */
  tagBytesTotal: 48 * MIB,
  /** Values of one numeric tag; tables of block offsets are read page by page and can be longer. */
  tagValueCount: 1_000_000,
  /**
   * Decoded bytes of one block or strip; strips have no pixel limit of their own. A predictor needs
   * the same again, so that the largest block stays well below 200 MB.
   */
  blockBytes: 64 * MIB,
  /** Stored bytes of a block can exceed the decoded ones by this factor and constant: codecs expand noise a little. */
  storedBlockGrowth: 2,
  storedBlockSlackBytes: 64 * 1024,
  /** Decoded bytes of the blocks that one window reads concurrently; one block is always allowed. */
  blockBytesInFlight: 64 * MIB,
  /** Samples of a window assembled at once. */
  windowBytes: 256 * MIB,
  /** Taller uncompressed strips are read as several blocks. */
  rawStripBytes: MIB,
  gcpCount: 100_000,
  metadataItemCount: 10_000,
} as const
