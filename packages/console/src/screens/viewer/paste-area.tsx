import { useState, type ReactElement } from 'react'
import { AreaProblem, readArea } from '../../map/read-area.ts'
import { Field } from '../../ui/kit.ts'

const ADVICE = 'Paste a polygon as GeoJSON, WKT or KML.'

/** An area as text, read as soon as it is pasted. */
export function PasteArea({ onArea, disabled }: { onArea(shape: GeoJSON.Polygon): void; disabled: boolean }): ReactElement {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const read = async (next: string) => {
    setText(next)
    setProblem(undefined)
    if (next.trim() === '') return
    try {
      const area = await readArea(next)
      if (area?.kind !== 'area') return setProblem(ADVICE)
      setText('')
      onArea(area.geometry)
    } catch (cause) {
      setProblem(cause instanceof AreaProblem ? cause.message : ADVICE)
    }
  }
  return (
    <Field
      label="Or paste an area"
      placeholder="GeoJSON, WKT or KML"
      value={text}
      disabled={disabled}
      error={problem}
      onChange={(event) => void read(event.target.value)}
    />
  )
}
