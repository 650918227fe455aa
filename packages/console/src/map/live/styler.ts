/** Applies a style to the samples of tiles on the graphics processor: samples in textures, one draw per tile into a texture of colours. */
import type { ChannelRange, DataHeader, DataTile, Samples } from './data-tile.ts'
import { bytesOf } from './evaluate.ts'
import { NotTranslated, shaderOf, storageOf, VERTEX_SHADER } from './shader.ts'
import { byteOfChannel, BYTES, thresholdsOf } from './thresholds.ts'

/** What can change without other samples. */
export interface Look {
  /** For all channels; null for what the tile says. */
  range: readonly [low: number, high: number] | null
  /** 256 colours of three bytes; null for grey, or red, green and blue. */
  colors: Uint8Array | null
}

/** One tile on the graphics processor. */
export interface StyledTile {
  readonly header: DataHeader
  /** Tiles with the same key are drawn by the same program. */
  readonly key: string
  /** Null where no pixel is data. */
  readonly samples: WebGLTexture | null
  /** Null if all of them are. */
  readonly mask: WebGLTexture | null
  /** The colours, premultiplied. */
  readonly colors: WebGLTexture
  /** Some pixels to check the result with. */
  readonly probes: readonly Probe[]
}

interface Probe {
  index: number
  samples: readonly number[]
  alpha: number
}

interface Program {
  program: WebGLProgram
  locations: Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>
}

const UNIFORMS = ['samples', 'mask', 'hasMask', 'thresholds', 'colors', 'hasColors'] as const
const CHANNELS = 3
const PROBES = 289
const LOWEST = -3.4028234663852886e38

/** The ranges of a tile's channels in a look. A range that was chosen has no curve. */
const rangesOf = ({ ranges }: DataHeader, { range }: Look): readonly ChannelRange[] => (range ? ranges.map(() => range) : ranges)

export class Styler {
  readonly #gl: WebGL2RenderingContext
  readonly #programs = new Map<string, Program>()
  readonly #framebuffer: WebGLFramebuffer
  readonly #array: WebGLVertexArrayObject
  readonly #thresholds: WebGLTexture
  readonly #colors: WebGLTexture
  /** Bound where there is no mask: a program needs one. */
  readonly #noMask: WebGLTexture
  /** What the textures of thresholds and colours hold. */
  #prepared: { key: string; look: Look } | null = null

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl
    this.#framebuffer = gl.createFramebuffer()
    this.#array = gl.createVertexArray()
    this.#thresholds = this.#texture(gl.R32F, BYTES, CHANNELS)
    this.#colors = this.#texture(gl.RGBA8, BYTES, 1)
    this.#noMask = this.#texture(gl.R8UI, 1, 1)
  }

  upload({ header, planes, mask }: DataTile): StyledTile {
    const gl = this.#gl
    const { width, height } = header
    setUnpacking(gl)
    const colors = this.#texture(gl.RGBA8, width, height, Math.floor(Math.log2(Math.max(width, height))) + 1)
    const key = keyOf(header)
    if (planes.length === 0) return { header, key, samples: null, mask: null, colors, probes: [] }
    const samples = gl.createTexture()
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, samples)
    nearest(gl, gl.TEXTURE_2D_ARRAY)
    const [internal, format, type] = formatOf(gl, header)
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, internal, width, height, planes.length)
    planes.forEach((plane, layer) =>
      gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, layer, width, height, 1, format, type, storedAs(header, plane)),
    )
    const masked = mask ? this.#texture(gl.R8UI, width, height) : null
    if (mask) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RED_INTEGER, gl.UNSIGNED_BYTE, mask)
    return { header, key, samples, mask: masked, colors, probes: probesOf(planes, mask) }
  }

  /** Throws `NotTranslated` for a style that this cannot draw. */
  draw(tile: StyledTile, look: Look): void {
    const gl = this.#gl
    const { header, samples, mask, colors } = tile
    const { width, height } = header
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#framebuffer)
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, colors, 0)
    gl.viewport(0, 0, width, height)
    for (const test of [gl.BLEND, gl.DEPTH_TEST, gl.STENCIL_TEST, gl.SCISSOR_TEST, gl.CULL_FACE]) gl.disable(test)
    gl.colorMask(true, true, true, true)
    if (samples) {
      const { program, locations } = this.#programOf(tile, look)
      this.#prepare(tile, look)
      gl.useProgram(program)
      gl.bindVertexArray(this.#array)
      const textures = [
        ['samples', gl.TEXTURE_2D_ARRAY, samples],
        ['mask', gl.TEXTURE_2D, mask ?? this.#noMask],
        ['thresholds', gl.TEXTURE_2D, this.#thresholds],
        ['colors', gl.TEXTURE_2D, this.#colors],
      ] as const
      for (const [unit, [name, target, texture]] of textures.entries()) {
        gl.activeTexture(gl.TEXTURE0 + unit)
        gl.bindTexture(target, texture)
        gl.uniform1i(locations[name], unit)
      }
      gl.uniform1i(locations.hasMask, mask ? 1 : 0)
      gl.uniform1i(locations.hasColors, look.colors && header.ranges.length === 1 ? 1 : 0)
      gl.drawArrays(gl.TRIANGLES, 0, 3)
      gl.bindVertexArray(null)
    } else {
      gl.clearColor(0, 0, 0, 0)
      gl.clear(gl.COLOR_BUFFER_BIT)
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null)
    gl.activeTexture(gl.TEXTURE0)
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, null)
    gl.bindTexture(gl.TEXTURE_2D, colors)
    gl.generateMipmap(gl.TEXTURE_2D) // As of any tile: a smaller one is not picked pixel by pixel.
  }

  /** The colours of a tile that was drawn. Waits for the graphics processor. */
  read({ header, colors }: StyledTile): Uint8Array {
    const gl = this.#gl
    const pixels = new Uint8Array(header.width * header.height * 4)
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#framebuffer)
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, colors, 0)
    gl.readPixels(0, 0, header.width, header.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
    gl.bindFramebuffer(gl.FRAMEBUFFER, null)
    return pixels
  }

  /** Whether some pixels of a tile are within one step of what the service computes: processors and their drivers differ. */
  isRight(tile: StyledTile, look: Look): boolean {
    if (tile.probes.length === 0) return true
    const pixels = this.read(tile)
    const bytesAt = bytesOf(tile.header, rangesOf(tile.header, look))
    return tile.probes.every(({ index, samples, alpha }) => {
      const pixel = pixels.subarray(index * 4, index * 4 + 4)
      const bytes = alpha === 0 ? null : bytesAt(samples)
      if (!bytes) return pixel[3] === 0
      if (pixel[3] !== alpha) return false
      return alpha < 255 || isWithinAStep(bytes, pixel, look.colors)
    })
  }

  release({ samples, mask, colors }: StyledTile): void {
    for (const texture of [samples, mask, colors]) this.#gl.deleteTexture(texture)
  }

  destroy(): void {
    const gl = this.#gl
    for (const { program } of this.#programs.values()) gl.deleteProgram(program)
    for (const texture of [this.#thresholds, this.#colors, this.#noMask]) gl.deleteTexture(texture)
    gl.deleteFramebuffer(this.#framebuffer)
    gl.deleteVertexArray(this.#array)
  }

  /** Thresholds and colours are the same for all tiles. */
  #prepare({ header, key }: StyledTile, look: Look): void {
    const gl = this.#gl
    if (this.#prepared?.key === key && this.#prepared.look === look) return
    const ranges = rangesOf(header, look)
    // One range for three bands needs one computation.
    const isShared = !header.scales && ranges.every((range) => String(range) === String(ranges[0]))
    const channels = (isShared ? ranges.slice(0, 1) : ranges).map((range, channel) => byteOfChannel(header, channel, range))
    if (!channels.every((byteOf) => byteOf !== null)) throw new NotTranslated('a range that descends')
    const thresholds = channels.map(thresholdsOf)
    setUnpacking(gl)
    gl.activeTexture(gl.TEXTURE0)
    gl.bindTexture(gl.TEXTURE_2D, this.#thresholds)
    ranges.forEach((_, row) => gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, BYTES, 1, gl.RED, gl.FLOAT, thresholds[isShared ? 0 : row]!))
    if (look.colors) {
      gl.bindTexture(gl.TEXTURE_2D, this.#colors)
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, BYTES, 1, gl.RGBA, gl.UNSIGNED_BYTE, withAlpha(look.colors))
    }
    this.#prepared = { key, look }
  }

  #programOf({ header, key }: StyledTile, look: Look): Program {
    const { style } = header
    // The style of the tile has its own colours, which are not known here.
    if ('colormap' in style && style.colormap !== null && !look.colors) throw new NotTranslated(`colormap ${style.colormap}`)
    let known = this.#programs.get(key)
    if (!known) this.#programs.set(key, (known = this.#compile(shaderOf(header))))
    return known
  }

  #compile(fragmentShader: string): Program {
    const gl = this.#gl
    const program = gl.createProgram()
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX_SHADER],
      [gl.FRAGMENT_SHADER, fragmentShader],
    ] as const) {
      const shader = gl.createShader(type)!
      gl.shaderSource(shader, source)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
      gl.deleteShader(shader)
    }
    gl.linkProgram(program)
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new NotTranslated('the program does not compile here')
    const locations = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)])) as Program['locations']
    return { program, locations }
  }

  #texture(format: number, width: number, height: number, levels = 1): WebGLTexture {
    const gl = this.#gl
    const texture = gl.createTexture()
    gl.bindTexture(gl.TEXTURE_2D, texture)
    nearest(gl, gl.TEXTURE_2D)
    gl.texStorage2D(gl.TEXTURE_2D, levels, format, width, height)
    return texture
  }
}

const keyOf = ({ style, type, bands, scales, ranges }: DataHeader) => JSON.stringify([style, type, bands, scales, ranges])

function nearest(gl: WebGL2RenderingContext, target: number): void {
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
}

function setUnpacking(gl: WebGL2RenderingContext): void {
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1)
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false)
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false)
}

function formatOf(gl: WebGL2RenderingContext, header: DataHeader): [internal: number, format: number, type: number] {
  const isByte = header.type.endsWith('8')
  switch (storageOf(header)) {
    case 'unsigned':
      return [isByte ? gl.R8UI : gl.R16UI, gl.RED_INTEGER, isByte ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT]
    case 'signed':
      return [isByte ? gl.R8I : gl.R16I, gl.RED_INTEGER, isByte ? gl.BYTE : gl.SHORT]
    case 'float':
      return [gl.R32F, gl.RED, gl.FLOAT]
  }
}

/** A band without data beside others that have it has the first colour; what a comparison with NaN gives is up to the processor. */
const storedAs = (header: DataHeader, plane: Samples): Samples =>
  storageOf(header) === 'float' ? Float32Array.from(plane, (value) => (Number.isNaN(value) ? LOWEST : value)) : plane

function withAlpha(colors: Uint8Array): Uint8Array {
  const out = new Uint8Array(BYTES * 4).fill(255)
  for (let i = 0; i < BYTES; i++) out.set(colors.subarray(i * 3, i * 3 + 3), i * 4)
  return out
}

/** Spread over the tile, so that they hit every part of it and different columns. */
function probesOf(planes: readonly Samples[], mask: Uint8Array | null): Probe[] {
  const count = planes[0]!.length
  return Array.from({ length: PROBES }, (_, probe) => {
    const index = Math.floor(((probe + 0.5) * count) / PROBES)
    return { index, samples: planes.map((plane) => plane[index]!), alpha: mask ? mask[index]! : 255 }
  })
}

/** With a colormap, a step is one to the neighbouring colour. */
function isWithinAStep(bytes: readonly number[], pixel: Uint8Array, colors: Uint8Array | null): boolean {
  if (bytes.length === 3) return bytes.every((byte, channel) => Math.abs(pixel[channel]! - byte) <= 1)
  const byte = bytes[0]!
  if (!colors) return Math.abs(pixel[0]! - byte) <= 1
  return [byte, byte - 1, byte + 1].some((entry) => [0, 1, 2].every((channel) => colors[entry * 3 + channel] === pixel[channel]))
}
