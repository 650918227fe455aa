/** What a scene of a catalogue costs over the area, and the button that orders or adds it. */
import type { ReactElement } from 'react'
import { toggleInCart, useCart } from '../../state/cart.ts'
import { useEstimate } from '../../state/estimate.ts'
import type { Scene } from '../../state/scene.ts'
import { area as areaText, audOfCredits, count } from '../../ui/format.ts'
import { Badge, Button } from '../../ui/kit.ts'
import { AddScene } from './add-scene.tsx'
import { approximateCredits, chargedKm2 } from './scenes.ts'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

interface SceneOfferParts {
  scene: Scene
  area: GeoJSON.Polygon | null
}

export function SceneOffer({ scene, area }: SceneOfferParts): ReactElement {
  const approximate = approximateCredits(scene, area)
  const isForSale = scene.product !== null
  const estimate = useEstimate(isForSale ? [{ ...scene, area }] : [])
  const isInCart = useCart().some(({ key }) => key === scene.key)
  if (!isForSale)
    return (
      <>
        <Price price="Free" about="Open data" />
        <div className={classes(ui.flexRow, ui.marginTop12)}>
          <AddScene scene={scene} area={area} />
        </div>
      </>
    )
  const refusal = estimate.data?.errors[0]?.reason ?? (approximate === null ? estimate.error?.message : undefined)
  const credits = refusal === undefined ? (estimate.data?.total_credits ?? approximate) : null
  const billed = estimate.data?.groups[0]?.billedByVendor ?? null
  const over = areaText(chargedKm2(scene, area) * 1e6)
  const rate = scene.creditsPerKm2 === null ? null : `${count(scene.creditsPerKm2)} credits/km²`
  return (
    <>
      {billed ? (
        <Price price={amountText(billed)} about={`Billed by the vendor for ${over}`} />
      ) : credits === null ? (
        <Price price={refusal === undefined ? 'Calculating price' : 'No price'} about={`For ${over}`} />
      ) : (
        <Price
          price={audOfCredits(credits)}
          about={`${estimate.data ? '' : 'About '}${count(credits)} credits for ${over}`}
          {...(rate === null ? {} : { rate })}
        />
      )}
      <Button
        variant="primary"
        wide
        className={ui.marginTop12}
        icon={isInCart ? 'check' : 'cart'}
        onClick={() => toggleInCart(scene, area)}
        aria-pressed={isInCart}
      >
        {isInCart ? 'In order' : 'Add to order'}
      </Button>
      <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
        {refusal ?? "You pay only for the part inside your area, subject to the vendor's minimum."}
      </p>
    </>
  )
}

const amountText = ({ currency, amount }: { currency: string; amount: number | null }): string =>
  amount === null ? 'By contract' : `${currency} ${amount.toFixed(2)}`

const Price = ({ price, about, rate }: { price: string; about: string; rate?: string }): ReactElement => (
  <div className={classes(ui.flexRow, ui.between)}>
    <div>
      <b className={classes(ui.largePrice, ui.numeric)}>{price}</b>
      <div className={classes(ui.soft, ui.small)}>{about}</div>
    </div>
    {rate && <Badge>{rate}</Badge>}
  </div>
)
