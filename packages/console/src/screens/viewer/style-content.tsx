/** What a style draws: three bands, one band, or an expression. */
import type { ReactElement } from 'react'
import type { Style, StyleChange } from '../../state/style.ts'
import { Choice } from '../../ui/kit.ts'
import type { Band } from './band.ts'
import { ExpressionField } from './expression-field.tsx'
import { Formulas } from './formulas.tsx'
import ui from '../../ui/ui.module.css'

interface StyleContentParts {
  style: Style
  bands: readonly Band[]
  mayWrite: boolean
  error: Error | null
  isChecking: boolean
  onStyle(change: StyleChange): void
}

export function StyleContent({ style, bands, mayWrite, error, isChecking, onStyle }: StyleContentParts): ReactElement {
  const { colormap } = style
  const options = bands.map(({ index, name }) => ({ value: String(index), text: `b${index} ${name}` }))
  if (style.kind === 'band')
    return (
      <Choice
        label="Band"
        value={String(style.bands?.[0] ?? 1)}
        onChange={(event) => onStyle({ bands: [Number(event.target.value)], colormap })}
        options={options}
      />
    )
  if (style.kind === 'expression')
    return (
      <>
        <ExpressionField
          expression={style.expression ?? ''}
          bands={bands}
          error={error}
          isChecking={isChecking}
          onChange={(expression) => onStyle({ expression, colormap })}
        />
        <Formulas style={style} bands={bands} mayWrite={mayWrite} onStyle={onStyle} />
      </>
    )
  const chosen = style.bands ?? [1, 2, 3]
  return (
    <div className={ui.triple}>
      {['Red', 'Green', 'Blue'].map((channel, index) => (
        <Choice
          key={channel}
          label={channel}
          value={String(chosen[index] ?? 1)}
          options={options}
          onChange={(event) => onStyle({ bands: [...chosen].with(index, Number(event.target.value)) })}
        />
      ))}
    </div>
  )
}
