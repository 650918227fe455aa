/** Pixels ready to be encoded: 8 bits a channel, rows from the top, channels side by side. */
export interface Picture {
  width: number
  height: number
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  channels: 1 | 2 | 3 | 4
  data: Uint8Array<ArrayBuffer>
}

/** Pixels as entries of a palette, one byte each. Entry 0 is transparent; the others are opaque. */
export interface IndexedPicture {
  width: number
  height: number
  indices: Uint8Array<ArrayBuffer>
  /** 256 entries of three bytes; those of entry 0 are not shown. */
  palette: Uint8Array
}

export const isIndexed = (picture: Picture | IndexedPicture): picture is IndexedPicture => 'indices' in picture

const OPAQUE = 255

/** Looks every entry up: RGB where no pixel is transparent, RGBA otherwise. */
export function expandPalette({ width, height, indices, palette }: IndexedPicture): Picture {
  const channels = indices.includes(0) ? 4 : 3
  const data = new Uint8Array(indices.length * channels)
  for (let i = 0, o = 0; i < indices.length; i++, o += channels) {
    const entry = indices[i]! * 3
    if (entry === 0) continue
    data[o] = palette[entry]!
    data[o + 1] = palette[entry + 1]!
    data[o + 2] = palette[entry + 2]!
    if (channels === 4) data[o + 3] = OPAQUE
  }
  return { width, height, channels, data }
}

/** Leaves an alpha channel away that says nothing: every encoder is faster and every file smaller without it. */
export function dropOpaqueAlpha(picture: Picture): Picture {
  const { width, height, channels, data } = picture
  if (channels !== 2 && channels !== 4) return picture
  for (let i = channels - 1; i < data.length; i += channels) if (data[i] !== OPAQUE) return picture
  const colors = channels === 4 ? 3 : 1
  const opaque = new Uint8Array(width * height * colors)
  for (let i = 0, o = 0; o < opaque.length; i += channels, o += colors) {
    for (let c = 0; c < colors; c++) opaque[o + c] = data[i + c]!
  }
  return { width, height, channels: colors, data: opaque }
}

/** Lays a picture with alpha over white, for formats that know no transparency. */
export function flattenOnWhite(picture: Picture): Picture {
  const { width, height, channels, data } = picture
  if (channels !== 2 && channels !== 4) return picture
  const colors = channels === 4 ? 3 : 1
  const flat = new Uint8Array(width * height * colors)
  for (let i = 0, o = 0; o < flat.length; i += channels, o += colors) {
    const alpha = data[i + colors]!
    for (let c = 0; c < colors; c++) {
      flat[o + c] = alpha === OPAQUE ? data[i + c]! : Math.round(OPAQUE + ((data[i + c]! - OPAQUE) * alpha) / OPAQUE)
    }
  }
  return { width, height, channels: colors, data: flat }
}
