/** One outline set of 16 pixels. Paths are data, so that an icon costs a line. */
import type { ReactElement } from 'react'
import styles from './icons.module.css'

const PATHS = {
  search: [
    ['circle', { cx: '7', cy: '7', r: '4.5' }],
    ['path', { d: 'm13.5 13.5-3.2-3.2' }],
  ],
  globe: [
    ['circle', { cx: '8', cy: '8', r: '6.2' }],
    ['path', { d: 'M1.8 8h12.4M8 1.8c2.2 2 2.2 10.4 0 12.4M8 1.8c-2.2 2-2.2 10.4 0 12.4' }],
  ],
  layers: [['path', { d: 'm8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3' }]],
  cart: [
    ['path', { d: 'M1.5 2.5h2l1.6 7.6h7l1.4-5.4H4.2' }],
    ['circle', { cx: '6', cy: '13', r: '1' }],
    ['circle', { cx: '11.2', cy: '13', r: '1' }],
  ],
  sat: [
    ['path', { d: 'm6.2 6.2 3.6 3.6M4.4 8 8 4.4l3.6 3.6L8 11.6z' }],
    ['path', { d: 'M5.6 3.2 3.2 5.6 1.6 4 4 1.6zM12.8 10.4l-2.4 2.4 1.6 1.6 2.4-2.4zM2.5 11a2.6 2.6 0 0 0 2.6 2.6' }],
  ],
  bell: [['path', { d: 'M4 7a4 4 0 0 1 8 0c0 3.4 1.4 4.2 1.4 4.2H2.6S4 10.4 4 7M6.6 13.6a1.6 1.6 0 0 0 2.8 0' }]],
  code: [['path', { d: 'm5 4.5-3.5 3.5L5 11.5M11 4.5l3.5 3.5-3.5 3.5M9.2 3 6.8 13' }]],
  card: [
    ['rect', { x: '1.5', y: '3.2', width: '13', height: '9.6', rx: '1.8' }],
    ['path', { d: 'M1.5 6.4h13M4 10h2.6' }],
  ],
  users: [
    ['circle', { cx: '6', cy: '5.4', r: '2.5' }],
    ['path', { d: 'M1.4 13.4c.3-2.7 2.2-4.2 4.6-4.2s4.3 1.5 4.6 4.2M10.6 3.2a2.4 2.4 0 0 1 0 4.5M12.3 9.6c1.3.5 2.1 1.8 2.3 3.8' }],
  ],
  up: [['path', { d: 'M8 11V2.6M4.6 5.8 8 2.4l3.4 3.4M2.2 10.6v2.2c0 .6.4 1 1 1h9.6c.6 0 1-.4 1-1v-2.2' }]],
  down: [['path', { d: 'M8 2.4v8.2M4.6 7.4 8 10.8l3.4-3.4M2.2 11.4v1.4c0 .6.4 1 1 1h9.6c.6 0 1-.4 1-1v-1.4' }]],
  x: [['path', { d: 'm4 4 8 8M12 4l-8 8' }]],
  check: [['path', { d: 'm3 8.4 3.2 3.2L13 4.8' }]],
  plus: [['path', { d: 'M8 3v10M3 8h10' }]],
  chev: [['path', { d: 'm4.5 6.2 3.5 3.6 3.5-3.6' }]],
  right: [['path', { d: 'm6.2 4.2 3.8 3.8-3.8 3.8' }]],
  poly: [
    ['path', { d: 'M3.2 5 8.6 2.6l4.6 4.2-2 6.2-6.4-.6z' }],
    ['circle', { cx: '3.2', cy: '5', r: '1.1' }],
    ['circle', { cx: '8.6', cy: '2.6', r: '1.1' }],
    ['circle', { cx: '13.2', cy: '6.8', r: '1.1' }],
    ['circle', { cx: '11.2', cy: '13', r: '1.1' }],
    ['circle', { cx: '4.8', cy: '12.4', r: '1.1' }],
  ],
  rect: [['rect', { x: '2.6', y: '3.6', width: '10.8', height: '8.8' }]],
  pin: [
    ['path', { d: 'M8 14.2s4.6-4.4 4.6-7.8a4.6 4.6 0 0 0-9.2 0c0 3.4 4.6 7.8 4.6 7.8z' }],
    ['circle', { cx: '8', cy: '6.4', r: '1.6' }],
  ],
  swipe: [['path', { d: 'M8 1.8v12.4M5.4 5.6 3 8l2.4 2.4M10.6 5.6 13 8l-2.4 2.4' }]],
  drop: [['path', { d: 'M8 2.2s4 4.2 4 7.2a4 4 0 0 1-8 0c0-3 4-7.2 4-7.2z' }]],
  ruler: [['path', { d: 'm1.8 10.8 9-9 3.4 3.4-9 9zM4.6 8 6 9.4M7 5.6 8.8 7.4M9.4 3.2l1.4 1.4' }]],
  shape: [
    ['path', { d: 'M3 11.6 4.4 4l8-1.2 1.2 8.6z' }],
    ['path', { d: 'm5.6 10 1-4.2 4.4-.8.8 4.4z', strokeDasharray: '1.6 1.6' }],
  ],
  profile: [['path', { d: 'M2 2.4v11.2h12M3.8 10.4 6.4 6l2.6 2.6 4-5' }]],
  grid: [['path', { d: 'M2.4 5.6h11.2M2.4 10.4h11.2M5.6 2.4v11.2M10.4 2.4v11.2' }]],
  film: [
    ['rect', { x: '1.8', y: '3', width: '12.4', height: '10', rx: '1.4' }],
    ['path', { d: 'M5 3v10M11 3v10M1.8 8H5M11 8h3.2' }],
  ],
  pause: [['path', { d: 'M5.4 3.4v9.2M10.6 3.4v9.2' }]],
  eye: [
    ['path', { d: 'M1.4 8s2.4-4.4 6.6-4.4S14.6 8 14.6 8 12.2 12.4 8 12.4 1.4 8 1.4 8z' }],
    ['circle', { cx: '8', cy: '8', r: '2' }],
  ],
  share: [
    ['circle', { cx: '12', cy: '3.4', r: '1.9' }],
    ['circle', { cx: '4', cy: '8', r: '1.9' }],
    ['circle', { cx: '12', cy: '12.6', r: '1.9' }],
    ['path', { d: 'm5.7 7 4.6-2.6M5.7 9l4.6 2.6' }],
  ],
  graph: [
    ['circle', { cx: '3.4', cy: '3.8', r: '1.7' }],
    ['circle', { cx: '3.4', cy: '12.2', r: '1.7' }],
    ['circle', { cx: '12.6', cy: '8', r: '1.7' }],
    ['path', { d: 'M5 4.4 11 7.4M5 11.6 11 8.6' }],
  ],
  clock: [
    ['circle', { cx: '8', cy: '8', r: '6.2' }],
    ['path', { d: 'M8 4.4V8l2.6 1.6' }],
  ],
  play: [['path', { d: 'M5 3.4v9.2L12.4 8z' }]],
  warn: [
    ['path', { d: 'M8 2.2 14.6 13.6H1.4z' }],
    ['path', { d: 'M8 6.4v3.4M8 11.8v.1' }],
  ],
  info: [
    ['circle', { cx: '8', cy: '8', r: '6.2' }],
    ['path', { d: 'M8 7.2v4M8 4.8v.1' }],
  ],
  lock: [
    ['rect', { x: '3', y: '7', width: '10', height: '6.8', rx: '1.4' }],
    ['path', { d: 'M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2' }],
  ],
  copy: [
    ['rect', { x: '5.4', y: '5.4', width: '8.2', height: '8.2', rx: '1.4' }],
    ['path', { d: 'M10.6 5.4V3.6c0-.6-.4-1-1-1h-6c-.6 0-1 .4-1 1v6c0 .6.4 1 1 1h1.8' }],
  ],
  sun: [
    ['circle', { cx: '8', cy: '8', r: '2.8' }],
    ['path', { d: 'M8 1.4v1.4M8 13.2v1.4M1.4 8h1.4M13.2 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M12.7 3.3l-1 1M4.3 11.7l-1 1' }],
  ],
  moon: [['path', { d: 'M13.6 9.6A6 6 0 0 1 6.4 2.4a6 6 0 1 0 7.2 7.2z' }]],
  filter: [['path', { d: 'M2 3.4h12M4.4 8h7.2M6.6 12.6h2.8' }]],
  flow: [
    ['rect', { x: '1.8', y: '2.4', width: '4.6', height: '4', rx: '1' }],
    ['rect', { x: '9.6', y: '9.6', width: '4.6', height: '4', rx: '1' }],
    ['path', { d: 'M6.4 4.4h3.2c1.3 0 2.3 1 2.3 2.3v2.9' }],
  ],
  hook: [
    ['circle', { cx: '4', cy: '11', r: '2.2' }],
    ['circle', { cx: '12', cy: '11', r: '2.2' }],
    ['circle', { cx: '8', cy: '4', r: '2.2' }],
    ['path', { d: 'M6.2 11h3.6M5 9.2l2-3.4M11 9.2 9 5.8' }],
  ],
  key: [
    ['circle', { cx: '5', cy: '11', r: '3' }],
    ['path', { d: 'm7.2 8.8 6-6M11 5l2 2M9.2 6.8l1.4 1.4' }],
  ],
  grip: [['path', { d: 'M6 4v.1M10 4v.1M6 8v.1M10 8v.1M6 12v.1M10 12v.1' }]],
  dots: [['path', { d: 'M3.4 8h.1M8 8h.1M12.6 8h.1', strokeWidth: '2.4' }]],
  retry: [['path', { d: 'M13.2 8a5.2 5.2 0 1 1-1.6-3.8M13.4 2.2v3h-3' }]],
  trash: [['path', { d: 'M2.6 4.2h10.8M6.2 4.2V2.6h3.6v1.6M4 4.2l.7 9.2h6.6l.7-9.2' }]],
  folder: [['path', { d: 'M1.8 12.4V3.8c0-.6.4-1 1-1h3l1.4 1.8h6c.6 0 1 .4 1 1v6.8c0 .6-.4 1-1 1H2.8c-.6 0-1-.4-1-1z' }]],
  image: [
    ['rect', { x: '2', y: '2.6', width: '12', height: '10.8', rx: '1.6' }],
    ['circle', { cx: '5.6', cy: '6', r: '1.1' }],
    ['path', { d: 'm2.4 11.6 3.4-3.2 2.4 2.2 2.4-2.8 3.2 3.4' }],
  ],
  hist: [['path', { d: 'M2 13.4h12M3.4 13V9.6M6 13V5.4M8.6 13V3M11.2 13V7.4M13.2 13v-2.2' }]],
  home: [['path', { d: 'M2.4 7.2 8 2.4l5.6 4.8v6.2H9.8V9.6H6.2v3.8H2.4z' }]],
  zoomin: [['path', { d: 'M8 3.4v9.2M3.4 8h9.2' }]],
  zoomout: [['path', { d: 'M3.4 8h9.2' }]],
  north: [['path', { d: 'm8 2.2 3 10.8L8 11l-3 2z' }]],
  min: [['path', { d: 'M4 8h8' }]],
  bolt: [['path', { d: 'M8.8 1.8 3.4 9h4l-.4 5.2L12.6 7h-4z' }]],
  help: [
    ['circle', { cx: '8', cy: '8', r: '6.2' }],
    ['path', { d: 'M6.2 6.2a1.9 1.9 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.4M8 11.6v.1' }],
  ],
  wifi: [['path', { d: 'M1.6 6.2a9.4 9.4 0 0 1 12.8 0M3.8 8.6a6 6 0 0 1 8.4 0M6 10.9a2.9 2.9 0 0 1 4 0M8 13.2v.1' }]],
} as const satisfies Record<string, readonly (readonly [string, Readonly<Record<string, string>>])[]>

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      {PATHS[name].map(([Tag, attributes], index) => (
        <Tag key={index} {...attributes} />
      ))}
    </svg>
  )
}

export function Logo({ size = 30 }: { size?: number }): ReactElement {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <circle cx="16" cy="17" r="11" fill="#0e8296" />
      <path d="M2 23C9 10 20 6 30 10" fill="none" stroke="#f2a33a" strokeWidth="2.6" strokeLinecap="round" />
      <circle cx="20.5" cy="9.4" r="3.2" fill="#f2a33a" />
    </svg>
  )
}
