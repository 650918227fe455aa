/** What a scene of a catalogue costs over the area, and the button that orders or adds it. */
import type { AreaShape } from '../../map/geo.ts'
import type { ReactElement } from 'react'
import type { Output } from '../../api/contract.ts'
import { toggleInCart, useCart } from '../../state/cart.ts'
import { useEstimate } from '../../state/estimate.ts'
import type { Scene } from '../../state/scene.ts'
import { area as areaText, audOfCredits, count } from '../../ui/format.ts'
import { Badge, Button } from '../../ui/kit.ts'
import { AddScene } from './add-scene.tsx'
import { amountText } from './prices.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

interface SceneOfferParts {
  scene: Scene
  area: AreaShape | null
}

export function SceneOffer({ scene, area }: SceneOfferParts): ReactElement {
  if (scene.isForSale) return <SaleOffer scene={scene} area={area} />
  return (
    <>
      <Price price="Free" about="Open data" />
      <div className={classes(ui.flexRow, ui.marginTop12)}>
        <AddScene scene={scene} area={area} />
      </div>
    </>
  )
}

/** With a price there is a button; without one, the reason. */
function SaleOffer({ scene, area }: SceneOfferParts): ReactElement {
  const estimate = useEstimate([{ ...scene, area }])
  const isInCart = useCart().some(({ key }) => key === scene.key)
  const group = estimate.data?.groups[0]
  const refusal = estimate.data?.errors[0]?.reason ?? estimate.error?.message
  return (
    <>
      {group ? (
        <GroupPrice scene={scene} group={group} />
      ) : (
        <Price price={refusal === undefined ? 'Calculating price' : 'No price'} about={refusal ?? 'The vendor is asked for a price.'} />
      )}
      <Button
        variant="primary"
        wide
        className={ui.marginTop12}
        icon={isInCart ? 'check' : 'cart'}
        disabled={!group && !isInCart}
        onClick={() => toggleInCart(scene, area)}
        aria-pressed={isInCart}
      >
        {isInCart ? 'In order' : refusal === undefined ? 'Add to order' : 'Cannot be ordered'}
      </Button>
      {estimate.isError && (
        <Button size="s" variant="quiet" className={ui.marginTop8} onClick={() => void estimate.refetch()}>
          Try again
        </Button>
      )}
    </>
  )
}

type Group = Output<'orders.archive.estimate'>['groups'][number]

/** What the service charges for the part of the area that the scene covers. */
function GroupPrice({ scene, group }: { scene: Scene; group: Group }): ReactElement {
  const { credits, aoi_km2, billed_km2, billedByVendor } = group
  const over = areaText(aoi_km2 * 1e6)
  const rate = scene.creditsPerKm2 === null ? undefined : `${count(scene.creditsPerKm2)} credits/km²`
  const minimum = billed_km2 > aoi_km2 ? ` Minimum order: ${areaText(billed_km2 * 1e6)}.` : ''
  if (billedByVendor) return <Price price={amountText(billedByVendor)} about={`Billed by the vendor for ${over}.${minimum}`} />
  return <Price price={audOfCredits(credits)} about={`${count(credits)} credits for ${over}.${minimum}`} rate={rate} />
}

const Price = ({ price, about, rate }: { price: string; about: string; rate?: string | undefined }): ReactElement => (
  <div className={classes(ui.flexRow, ui.between)}>
    <div>
      <b className={classes(ui.largePrice, ui.numeric)}>{price}</b>
      <div className={classes(ui.soft, ui.small)}>{about}</div>
    </div>
    {rate && <Badge>{rate}</Badge>}
  </div>
)
