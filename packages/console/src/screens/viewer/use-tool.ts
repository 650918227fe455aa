import { useCallback } from 'react'
import { useUrl } from '../../state/url.ts'

/** Tools that take over the map, one at a time. Inspecting is the tab Pixel. */
const TOOLS = ['zone', 'distance', 'area', 'profile', 'swipe', 'timelapse'] as const
export type Tool = (typeof TOOLS)[number]

export const toolOf = (text: string | undefined): Tool | null => TOOLS.find((tool) => tool === text) ?? null

/** The tool in use is in the address. What it measured goes with it. */
export function useTool(): [Tool | null, (tool: Tool | null) => void] {
  const [url, setUrl] = useUrl()
  const tool = toolOf(url['tool'])
  const set = useCallback(
    (next: Tool | null) => {
      if (next === tool) return
      setUrl({ tool: next, line: null, against: null, at: null, frame: null, ...(next === 'zone' ? { tab: 'statistics' } : {}) })
    },
    [setUrl, tool],
  )
  return [tool, set]
}
