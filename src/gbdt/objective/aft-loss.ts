/**
 * The loss of accelerated failure times and its derivatives by the margin, the logarithm of a time; as XGBoost,
 * src/common/survival_util.h and probability_distribution.h, its limits far out included.
 */
import type { LearningParameters } from "../parameters/learning-parameters.ts";

/** XGBoost's own clips: they are the bounds of g and h. */
export const gradientMax = 15;
export const hessianMax = 15;
const hessianMin = 1e-16;
const epsilon = 1e-12;

type DistributionName = LearningParameters["aft_loss_distribution"];
type Censoring = "none" | "right" | "left" | "interval";

interface Distribution {
  pdf(z: number): number;
  cdf(z: number): number;
  /** First and second derivative of the density. */
  slope(z: number): number;
  bend(z: number): number;
  /** Where the quotient is lost to rounding: the limits, for z above 0 and below. */
  limits(censoring: Censoring, isAbove: boolean, sigma: number): readonly [g: number, h: number];
}

const normal: Distribution = {
  pdf: (z) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI),
  cdf: (z) => 0.5 * (1 + erf(z / Math.SQRT2)),
  slope: (z) => -z * normal.pdf(z),
  bend: (z) => (z * z - 1) * normal.pdf(z),
  limits(censoring, isAbove, sigma) {
    const isFlat = (censoring === "right" && !isAbove) || (censoring === "left" && isAbove);
    return isFlat ? [0, hessianMin] : [isAbove ? -gradientMax : gradientMax, 1 / sigma ** 2];
  },
};

const logistic: Distribution = {
  pdf(z) {
    const w = Math.exp(z);
    return Number.isFinite(w * w) ? w / (1 + w) ** 2 : 0;
  },
  cdf(z) {
    const w = Math.exp(z);
    return w === Infinity ? 1 : w / (1 + w);
  },
  slope(z) {
    const w = Math.exp(z);
    return w === Infinity ? 0 : (logistic.pdf(z) * (1 - w)) / (1 + w);
  },
  bend(z) {
    const w = Math.exp(z);
    return Number.isFinite(w * w) ? (logistic.pdf(z) * (w * w - 4 * w + 1)) / (1 + w) ** 2 : 0;
  },
  limits(censoring, isAbove, sigma) {
    const isFlat = (censoring === "right" && !isAbove) || (censoring === "left" && isAbove);
    return [isFlat ? 0 : (isAbove ? -1 : 1) / sigma, hessianMin];
  },
};

const extreme: Distribution = {
  pdf(z) {
    const w = Math.exp(z);
    return w === Infinity ? 0 : w * Math.exp(-w);
  },
  cdf: (z) => 1 - Math.exp(-Math.exp(z)),
  slope(z) {
    const w = Math.exp(z);
    return w === Infinity ? 0 : (1 - w) * extreme.pdf(z);
  },
  bend(z) {
    const w = Math.exp(z);
    return Number.isFinite(w * w) ? (w * w - 3 * w + 1) * extreme.pdf(z) : 0;
  },
  limits(censoring, isAbove, sigma) {
    const isFlat = (censoring === "right" && !isAbove) || (censoring === "left" && isAbove);
    const h = isAbove && censoring !== "left" ? hessianMax : hessianMin;
    return [isFlat ? 0 : isAbove ? -gradientMax : 1 / sigma, h];
  },
};

const distributions: Readonly<Record<DistributionName, Distribution>> = { normal, logistic, extreme };

/** When the event was: between two times, which may be 0 and infinity, or the same. */
export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

/** The negative log-likelihood. */
export function aftLoss({ lower, upper }: Bounds, margin: number, name: DistributionName, sigma: number): number {
  const { pdf, cdf } = distributions[name];
  const z = (time: number): number => (Math.log(time) - margin) / sigma;
  const likelihood =
    lower === upper
      ? pdf(z(lower)) / (sigma * lower)
      : (upper === Infinity ? 1 : cdf(z(upper))) - (lower <= 0 ? 0 : cdf(z(lower)));
  return -Math.log(Math.max(likelihood, epsilon));
}

export function aftGradient(
  { lower, upper }: Bounds,
  margin: number,
  name: DistributionName,
  sigma: number,
): [g: number, h: number] {
  const { pdf, cdf, slope, bend, limits } = distributions[name];
  const z = (time: number): number => (Math.log(time) - margin) / sigma;
  if (lower === upper) {
    const at = z(lower);
    const [p, dp, ddp] = [pdf(at), slope(at), bend(at)];
    return clipped([dp, sigma * p], [-(p * ddp - dp * dp), sigma ** 2 * p ** 2], limits("none", at > 0, sigma));
  }
  const isOpen = upper === Infinity;
  const isFromZero = lower <= 0;
  const [zUpper, zLower] = [isOpen ? 0 : z(upper), isFromZero ? 0 : z(lower)];
  const mass = (isOpen ? 1 : cdf(zUpper)) - (isFromZero ? 0 : cdf(zLower));
  const density = (isOpen ? 0 : pdf(zUpper)) - (isFromZero ? 0 : pdf(zLower));
  const change = (isOpen ? 0 : slope(zUpper)) - (isFromZero ? 0 : slope(zLower));
  const censoring = isFromZero ? "left" : isOpen ? "right" : "interval";
  return clipped(
    [density, sigma * mass],
    [-(mass * change - density * density), (sigma * mass) ** 2],
    limits(censoring, zUpper > 0 || zLower > 0, sigma),
  );
}

type Quotient = readonly [numerator: number, denominator: number];

function clipped(g: Quotient, h: Quotient, [gLimit, hLimit]: readonly [number, number]): [g: number, h: number] {
  return [
    Math.min(Math.max(quotient(g, gLimit), -gradientMax), gradientMax),
    Math.min(Math.max(quotient(h, hLimit), hessianMin), hessianMax),
  ];
}

function quotient([numerator, denominator]: Quotient, limit: number): number {
  const value = numerator / denominator;
  return denominator < epsilon && !Number.isFinite(value) ? limit : value;
}

/** The error function, to double precision: a series without cancellation; beyond 6 nothing is left to 1. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  let term = size;
  let sum = size;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * size * size) / (2 * n + 1);
    sum += term;
  }
  return (Math.sign(x) * 2 * Math.exp(-size * size) * sum) / Math.sqrt(Math.PI);
}
