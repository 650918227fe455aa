/** The tags that matter to us, by the names that the TIFF, GeoTIFF and GDAL documents give them. */
export const TAG = {
  newSubfileType: 254,
  imageWidth: 256,
  imageLength: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripByteCounts: 279,
  t4Options: 292,
  planarConfiguration: 284,
  predictor: 317,
  whitePoint: 318,
  colorMap: 320,
  tileWidth: 322,
  tileLength: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  extraSamples: 338,
  sampleFormat: 339,
  jpegTables: 347,
  dateTime: 306,
  subIfds: 330,
  ycbcrCoefficients: 529,
  ycbcrSubsampling: 530,
  referenceBlackWhite: 532,
  rpcCoefficients: 50844,
  modelPixelScale: 33550,
  modelTiepoint: 33922,
  modelTransformation: 34264,
  geoKeyDirectory: 34735,
  geoDoubleParams: 34736,
  geoAsciiParams: 34737,
  gdalMetadata: 42112,
  gdalNodata: 42113,
  lercParameters: 50674,
} as const

export const COMPRESSION = {
  none: 1,
  ccittRle: 2,
  ccittG3: 3,
  ccittG4: 4,
  lzw: 5,
  jpeg: 7,
  deflate: 8,
  deflateOld: 32946,
  next: 32766,
  packbits: 32773,
  thunderscan: 32809,
  sgilog: 34676,
  sgilog24: 34677,
  lerc: 34887,
  lzma: 34925,
  zstd: 50000,
  webp: 50001,
} as const

export type CompressionName = Exclude<keyof typeof COMPRESSION, 'deflateOld'>

const NAME_BY_CODE = new Map<number, CompressionName>([
  [COMPRESSION.none, 'none'],
  [COMPRESSION.ccittRle, 'ccittRle'],
  [COMPRESSION.ccittG3, 'ccittG3'],
  [COMPRESSION.ccittG4, 'ccittG4'],
  [COMPRESSION.lzw, 'lzw'],
  [COMPRESSION.jpeg, 'jpeg'],
  [COMPRESSION.deflate, 'deflate'],
  [COMPRESSION.deflateOld, 'deflate'],
  [COMPRESSION.next, 'next'],
  [COMPRESSION.packbits, 'packbits'],
  [COMPRESSION.thunderscan, 'thunderscan'],
  [COMPRESSION.sgilog, 'sgilog'],
  [COMPRESSION.sgilog24, 'sgilog24'],
  [COMPRESSION.lerc, 'lerc'],
  [COMPRESSION.lzma, 'lzma'],
  [COMPRESSION.zstd, 'zstd'],
  [COMPRESSION.webp, 'webp'],
])

export function compressionName(code: number): CompressionName | null {
  return NAME_BY_CODE.get(code) ?? null
}

export const PHOTOMETRIC = {
  minIsWhite: 0,
  minIsBlack: 1,
  rgb: 2,
  palette: 3,
  transparencyMask: 4,
  cmyk: 5,
  ycbcr: 6,
  cielab: 8,
  icclab: 9,
  itulab: 10,
  logL: 32844,
  logLuv: 32845,
} as const

export const SUBFILE = { reducedResolution: 1, mask: 4 } as const

/** Bytes of one value of each TIFF field type, by type number. */
export const FIELD_BYTES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
}
