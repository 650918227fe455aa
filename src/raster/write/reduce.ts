import { averageReducer } from '#raster/write/halve.ts'
import { PickReducer } from '#raster/write/pick.ts'
import type { ReduceShape, RowReducer } from '#raster/write/row-reducer.ts'
import type { CogPlan, LevelShape } from '#raster/write/spec.ts'

/** The reducer for a plan. */
export function rowReducer(plan: CogPlan, fine: LevelShape, coarse: LevelShape): RowReducer {
  const { bandCount, nodata, alphaBand } = plan
  const shape: ReduceShape = { fine, coarse, bandCount, nodata, alphaBand, isFloat: plan.spec.dataType.startsWith('float') }
  return plan.overviews === 'average'
    ? averageReducer(shape, plan.spec.dataType.endsWith('64') && !shape.isFloat, plan.hasMask)
    : new PickReducer(shape, plan.overviews === 'mode')
}
