/** The globe on the sign-in page: land as dots under one ground track. Decoration, drawn once. */
import { useEffect, useRef, type ReactElement } from 'react'
import { whenIdle } from '../../ui/when-idle.ts'

type Ring = [number, number][]
interface Land {
  geometries: { coordinates: Ring[][] }[]
}

const CENTRE = { longitude: 137, latitude: -14 }
const STEP_DEGREES = 2
const GRID = { width: 720, height: 360 }

/** Whether a place is land, read from a picture of the whole world. */
function landMask(land: Land): (longitude: number, latitude: number) => boolean {
  const canvas = new OffscreenCanvas(GRID.width, GRID.height)
  const context = canvas.getContext('2d')!
  const x = (longitude: number) => ((longitude + 180) / 360) * GRID.width
  const y = (latitude: number) => ((90 - latitude) / 180) * GRID.height
  for (const { coordinates } of land.geometries)
    for (const rings of coordinates) {
      context.beginPath()
      for (const ring of rings) ring.forEach(([a, b], index) => (index === 0 ? context.moveTo(x(a), y(b)) : context.lineTo(x(a), y(b))))
      context.fill('evenodd')
    }
  const { data } = context.getImageData(0, 0, GRID.width, GRID.height)
  return (longitude, latitude) => {
    const column = Math.floor(x(((longitude + 540) % 360) - 180)) % GRID.width
    const row = Math.min(GRID.height - 1, Math.max(0, Math.floor(y(latitude))))
    return data[(row * GRID.width + column) * 4 + 3]! > 128
  }
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** Orthographic, seen from above the centre; null behind the limb. */
function place(longitude: number, latitude: number, radius: number): [number, number] | null {
  const l = radians(longitude - CENTRE.longitude)
  const p = radians(latitude)
  const p0 = radians(CENTRE.latitude)
  if (Math.sin(p0) * Math.sin(p) + Math.cos(p0) * Math.cos(p) * Math.cos(l) < 0.02) return null
  return [radius * Math.cos(p) * Math.sin(l), -radius * (Math.cos(p0) * Math.sin(p) - Math.sin(p0) * Math.cos(p) * Math.cos(l))]
}

function drawBall(context: CanvasRenderingContext2D, width: number, height: number, radius: number): void {
  const sky = context.createRadialGradient(width / 2, height / 2, radius * 0.9, width / 2, height / 2, radius * 1.35)
  sky.addColorStop(0, '#1d5563')
  sky.addColorStop(1, '#071015')
  context.fillStyle = sky
  context.fillRect(0, 0, width, height)
  const ball = context.createRadialGradient(width * 0.38, height * 0.3, radius * 0.1, width / 2, height / 2, radius)
  ball.addColorStop(0, '#14505d')
  ball.addColorStop(1, '#061116')
  context.fillStyle = ball
  context.beginPath()
  context.arc(width / 2, height / 2, radius, 0, 2 * Math.PI)
  context.fill()
}

function track(context: CanvasRenderingContext2D, radius: number, shift: number, colour: string, lineWidth: number): void {
  context.strokeStyle = colour
  context.lineWidth = lineWidth
  context.beginPath()
  let down = false
  for (let u = -90; u <= 90; u += 1) {
    const at = place(CENTRE.longitude + shift - u * 0.28, u * 0.93, radius)
    if (!at) down = false
    else if (down) context.lineTo(at[0], at[1])
    else {
      context.moveTo(at[0], at[1])
      down = true
    }
  }
  context.stroke()
}

function draw(canvas: HTMLCanvasElement, isLand: (longitude: number, latitude: number) => boolean): void {
  const { clientWidth: width, clientHeight: height } = canvas
  const scale = Math.min(2, devicePixelRatio)
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')!
  context.scale(scale, scale)
  const radius = Math.max(width, height) * 0.52
  drawBall(context, width, height, radius)
  context.translate(width / 2, height / 2)
  for (let latitude = -84; latitude <= 84; latitude += STEP_DEGREES)
    for (let longitude = -180; longitude < 180; longitude += STEP_DEGREES / Math.max(0.2, Math.cos(radians(latitude)))) {
      const at = isLand(longitude, latitude) ? place(longitude, latitude, radius) : null
      if (!at) continue
      const depth = 1 - Math.hypot(at[0], at[1]) / radius
      context.fillStyle = `rgb(150 205 210 / ${0.3 + 0.6 * Math.sqrt(depth)})`
      context.beginPath()
      context.arc(at[0], at[1], 1.1 + depth, 0, 2 * Math.PI)
      context.fill()
    }
  for (const shift of [-62, -31, 31, 62]) track(context, radius, shift, 'rgb(242 163 58 / 38%)', 1)
  track(context, radius, 4, '#f2a33a', 2.4)
}

export function Globe(): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let stopped = false
    const show = async () => {
      const land = (await (await fetch('/assets/world-coarse.json')).json()) as Land
      const isLand = landMask(land)
      if (!stopped && canvas.current) draw(canvas.current, isLand)
    }
    const cancel = whenIdle(() => void show().catch(() => undefined))
    return () => {
      stopped = true
      cancel()
    }
  }, [])
  return <canvas ref={canvas} aria-hidden="true" />
}
