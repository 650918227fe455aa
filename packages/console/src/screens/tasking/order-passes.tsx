/** The predicted passes of an order group. */
import type { ReactElement } from 'react'
import type { OrderGroup } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { Card } from '../../ui/kit.ts'
import { Loaded } from '../../ui/states.tsx'
import { paramOf } from './group-params.ts'
import { MAX_PASSES, Passes, PassLegend, STANDARD_DEG, WIDEST_DEG } from './passes.tsx'

export function OrderPasses({ group, optionLimit }: { group: OrderGroup | undefined; optionLimit: number | null }): ReactElement | null {
  const [from, to] = [String(paramOf(group, 'acquisitionStart') ?? ''), String(paramOf(group, 'acquisitionEnd') ?? '')]
  const requested = Number(paramOf(group, 'maxOffNadirAngle') ?? STANDARD_DEG)
  const featureCollection = (group?.featureCollection ?? { type: 'FeatureCollection', features: [] }) as {
    type: 'FeatureCollection'
    features: unknown[]
  }
  const passes = useOp(
    'orders.tasking.opportunities_list',
    {
      dataProduct: group?.dataProduct ?? '',
      featureCollection,
      params: { acquisitionStart: from, acquisitionEnd: to, maxOffNadirAngle: WIDEST_DEG },
      size: MAX_PASSES,
    },
    { enabled: group !== undefined && from !== '' && to !== '', staleTime: 300_000 },
  )
  return (
    <Card title="Predicted passes" aside={<PassLegend withOption={optionLimit !== null && optionLimit !== requested} />}>
      <Loaded query={passes} rows={2}>
        {({ content }) => <Passes passes={content} from={from} to={to} limit={requested} optionLimit={optionLimit} />}
      </Loaded>
    </Card>
  )
}
