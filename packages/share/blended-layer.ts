/**
 * Raster tiles that multiply, lighten or otherwise blend with what is below them. The map library draws rasters in one way only, so this
 * layer loads and draws its tiles itself, with the blending that graphics hardware has. It follows the globe and the flat map alike.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'

export type Blend = 'multiply' | 'screen' | 'darken' | 'lighten' | 'add'

interface BlendedTiles {
  /** A template with {z}, {x} and {y}. */
  tiles: string
  minzoom: number
  maxzoom: number
  /** West, south, east, north; null for the whole world. */
  bounds: readonly [number, number, number, number] | null
  /** Null for a tile that cannot be drawn: it stays a gap. */
  load(url: string, signal: AbortSignal): Promise<ImageBitmap | null>
}

/** Extent of a tile in the coordinates of the map library. */
const EXTENT = 8192
/** Fine enough to bend with the globe. */
const CELLS = 16
const TILE_PX = 512
const MAX_TEXTURES = 96

interface Loading {
  state: 'loading'
  ended: AbortController
}
type Loaded = Loading | { state: 'ready'; texture: WebGLTexture } | { state: 'empty' }

interface Program {
  program: WebGLProgram
  uniforms: Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>
}

const UNIFORMS = [
  'u_projection_matrix',
  'u_projection_fallback_matrix',
  'u_projection_tile_mercator_coords',
  'u_projection_clipping_plane',
  'u_projection_transition',
  'u_part',
  'u_opacity',
  'u_white',
] as const

const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_image;
uniform float u_opacity;
uniform float u_white;
in vec2 v_at;
out vec4 colour;
void main() {
  vec4 pixel = texture(u_image, v_at) * u_opacity;
  // Where the layer is transparent, the darker of two colours is what lies below.
  colour = u_white > 0.5 ? vec4(pixel.rgb + (1.0 - pixel.a), 1.0) : pixel;
}`

const vertexOf = ({ vertexShaderPrelude, define }: { vertexShaderPrelude: string; define: string }) => `#version 300 es
${vertexShaderPrelude}
${define}
in vec2 a_at;
uniform vec3 u_part;
out vec2 v_at;
void main() {
  v_at = u_part.xy + (a_at / ${EXTENT}.0) * u_part.z;
  gl_Position = projectTile(a_at);
}`

export class BlendedLayer implements maplibre.CustomLayerInterface {
  readonly type = 'custom'
  readonly id: string
  readonly #tiles: BlendedTiles
  #opacity = 1
  #blend: Blend
  #map: maplibre.Map | null = null
  #gl: WebGL2RenderingContext | null = null
  #mesh: { array: WebGLVertexArrayObject; buffers: WebGLBuffer[]; count: number } | null = null
  readonly #programs = new Map<string, Program>()
  /** The least recently used comes first. */
  readonly #loaded = new Map<string, Loaded>()

  constructor(id: string, tiles: BlendedTiles, blend: Blend) {
    this.id = id
    this.#tiles = tiles
    this.#blend = blend
  }

  set(opacity: number, blend: Blend): void {
    this.#opacity = opacity
    this.#blend = blend
    this.#map?.triggerRepaint()
  }

  onAdd(map: maplibre.Map, gl: WebGL2RenderingContext): void {
    this.#map = map
    this.#gl = gl
    this.#mesh = meshOf(gl)
  }

  onRemove(_map: maplibre.Map, gl: WebGL2RenderingContext): void {
    for (const key of this.#loaded.keys()) this.#forget(key)
    for (const { program } of this.#programs.values()) gl.deleteProgram(program)
    this.#programs.clear()
    if (this.#mesh) {
      gl.deleteVertexArray(this.#mesh.array)
      for (const buffer of this.#mesh.buffers) gl.deleteBuffer(buffer)
    }
    this.#map = null
    this.#gl = null
  }

  render(gl: WebGL2RenderingContext, options: maplibre.CustomRenderMethodInput): void {
    if (!this.#map || !this.#mesh || this.#opacity === 0) return
    const { minzoom, maxzoom } = this.#tiles
    const covering = this.#map.coveringTiles({ tileSize: TILE_PX, minzoom, maxzoom, roundZoom: true })
    const { program, uniforms } = this.#programFor(gl, options)
    gl.useProgram(program)
    gl.bindVertexArray(this.#mesh.array)
    gl.activeTexture(gl.TEXTURE0)
    gl.disable(gl.STENCIL_TEST)
    gl.disable(gl.DEPTH_TEST)
    gl.disable(gl.CULL_FACE)
    blendAs(gl, this.#blend)
    gl.uniform1f(uniforms.u_opacity, this.#opacity)
    gl.uniform1f(uniforms.u_white, this.#blend === 'darken' ? 1 : 0)
    for (const tile of covering) {
      const { z, x, y } = tile.canonical
      if (!this.#isInside(z, x, y)) continue
      const found = this.#find(z, x, y)
      if (!found) continue
      const data = options.getProjectionData({ tileID: { wrap: tile.wrap, canonical: { z, x, y } }, applyGlobeMatrix: true })
      project(gl, uniforms, data)
      gl.uniform3f(uniforms.u_part, found.left, found.top, found.size)
      gl.bindTexture(gl.TEXTURE_2D, found.texture)
      gl.drawElements(gl.TRIANGLES, this.#mesh.count, gl.UNSIGNED_SHORT, 0)
    }
    gl.bindVertexArray(null)
    gl.blendEquation(gl.FUNC_ADD)
    this.#shrink(covering.length)
  }

  /** The tile, or the part of a coarser one that covers it until it has loaded. */
  #find(z: number, x: number, y: number): { texture: WebGLTexture; left: number; top: number; size: number } | null {
    this.#want(z, x, y)
    for (let up = 0; up <= z; up++) {
      const loaded = this.#loaded.get(keyOf(z - up, x >> up, y >> up))
      if (loaded?.state === 'empty' && up === 0) return null
      if (loaded?.state !== 'ready') continue
      const size = 1 / 2 ** up
      return { texture: loaded.texture, left: (x % 2 ** up) * size, top: (y % 2 ** up) * size, size }
    }
    return null
  }

  #want(z: number, x: number, y: number): void {
    const key = keyOf(z, x, y)
    const known = this.#loaded.get(key)
    if (known) {
      this.#loaded.delete(key)
      this.#loaded.set(key, known)
      return
    }
    const ended = new AbortController()
    this.#loaded.set(key, { state: 'loading', ended })
    const url = this.#tiles.tiles.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y))
    void this.#tiles.load(url, ended.signal).then(
      (image) => this.#keep(key, ended, image),
      () => this.#keep(key, ended, null),
    )
  }

  #keep(key: string, ended: AbortController, image: ImageBitmap | null): void {
    if (ended.signal.aborted || !this.#gl) return image?.close()
    const texture = image && textureOf(this.#gl, image)
    image?.close()
    this.#loaded.set(key, texture ? { state: 'ready', texture } : { state: 'empty' })
    this.#map?.triggerRepaint()
  }

  #shrink(used: number): void {
    const limit = Math.max(MAX_TEXTURES, 2 * used)
    for (const key of this.#loaded.keys()) {
      if (this.#loaded.size <= limit) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    const loaded = this.#loaded.get(key)
    this.#loaded.delete(key)
    if (loaded?.state === 'loading') loaded.ended.abort()
    if (loaded?.state === 'ready') this.#gl?.deleteTexture(loaded.texture)
  }

  #isInside(z: number, x: number, y: number): boolean {
    const { bounds } = this.#tiles
    if (!bounds) return true
    const [west, south, east, north] = bounds
    const count = 2 ** z
    const [left, right] = [(x / count) * 360 - 180, ((x + 1) / count) * 360 - 180]
    const isAcross = east < west ? right > west || left < east : right > west && left < east
    return isAcross && latitudeOf(y / count) > south && latitudeOf((y + 1) / count) < north
  }

  #programFor(gl: WebGL2RenderingContext, { shaderData }: maplibre.CustomRenderMethodInput): Program {
    const known = this.#programs.get(shaderData.variantName)
    if (known) return known
    const program = gl.createProgram()
    for (const [type, source] of [
      [gl.VERTEX_SHADER, vertexOf(shaderData)],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(type)!
      gl.shaderSource(shader, source)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
      gl.deleteShader(shader)
    }
    gl.bindAttribLocation(program, 0, 'a_at')
    gl.linkProgram(program)
    const uniforms = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)])) as Program['uniforms']
    const made = { program, uniforms }
    this.#programs.set(shaderData.variantName, made)
    return made
  }
}

const keyOf = (z: number, x: number, y: number) => `${z}/${x}/${y}`
const latitudeOf = (share: number) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * share))) * 180) / Math.PI

/** Colours are multiplied by their alpha already, so that each of these leaves transparent pixels as they are. */
function blendAs(gl: WebGL2RenderingContext, blend: Blend): void {
  gl.enable(gl.BLEND)
  gl.blendEquation(blend === 'lighten' ? gl.MAX : blend === 'darken' ? gl.MIN : gl.FUNC_ADD)
  if (blend === 'multiply') gl.blendFuncSeparate(gl.DST_COLOR, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE)
  else if (blend === 'screen') gl.blendFuncSeparate(gl.ONE, gl.ONE_MINUS_SRC_COLOR, gl.ZERO, gl.ONE)
  else gl.blendFuncSeparate(gl.ONE, gl.ONE, gl.ZERO, gl.ONE)
}

function project(gl: WebGL2RenderingContext, uniforms: Program['uniforms'], data: maplibre.RendererProjectionData): void {
  gl.uniformMatrix4fv(uniforms.u_projection_matrix, false, data.mainMatrix)
  gl.uniformMatrix4fv(uniforms.u_projection_fallback_matrix, false, data.fallbackMatrix)
  gl.uniform4f(uniforms.u_projection_tile_mercator_coords, ...data.tileMercatorCoords)
  gl.uniform4f(uniforms.u_projection_clipping_plane, ...data.clippingPlane)
  gl.uniform1f(uniforms.u_projection_transition, data.projectionTransition)
}

function textureOf(gl: WebGL2RenderingContext, image: ImageBitmap): WebGLTexture {
  const texture = gl.createTexture()
  gl.bindTexture(gl.TEXTURE_2D, texture)
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false)
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image)
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR)
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
  return texture
}

/** A grid over one tile. */
function meshOf(gl: WebGL2RenderingContext) {
  const side = CELLS + 1
  const positions = new Int16Array(side * side * 2)
  for (let index = 0; index < side * side; index++) {
    positions[2 * index] = ((index % side) * EXTENT) / CELLS
    positions[2 * index + 1] = (Math.floor(index / side) * EXTENT) / CELLS
  }
  const corners: number[] = []
  for (let row = 0; row < CELLS; row++)
    for (let column = 0; column < CELLS; column++) {
      const at = row * side + column
      corners.push(at, at + side, at + 1, at + 1, at + side, at + side + 1)
    }
  const array = gl.createVertexArray()
  gl.bindVertexArray(array)
  const buffers = [gl.createBuffer(), gl.createBuffer()]
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]!)
  gl.bufferData(gl.ARRAY_BUFFER, positions, gl.STATIC_DRAW)
  gl.enableVertexAttribArray(0)
  gl.vertexAttribPointer(0, 2, gl.SHORT, false, 0, 0)
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[1]!)
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(corners), gl.STATIC_DRAW)
  gl.bindVertexArray(null)
  return { array, buffers, count: corners.length }
}
