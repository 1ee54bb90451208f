// See private-operations.h.
#include "private-operations.h"

#include "threads.h"

namespace tandem {

namespace {

Limbs loaded(const std::uint8_t* bytes, std::size_t sizeBytes, std::size_t limbs) {
  Limbs result(limbs);
  loadBytes(result.data(), limbs, bytes, sizeBytes);
  return result;
}

// The square of a prime of primeBytes bytes in as few limbs as hold its 2 * primeBytes bytes.
Limbs squared(const std::uint8_t* prime, std::size_t primeBytes) {
  const std::size_t limbs = limbsForBytes(primeBytes);
  const Limbs value = loaded(prime, primeBytes, limbs);
  Limbs square(2 * limbs);
  squareFull(square.data(), value.data(), limbs);
  square.resize(limbsForBytes(2 * primeBytes));
  return square;
}

Exponent orderOf(const std::uint8_t* prime, std::size_t primeBytes) {
  std::vector<std::uint8_t, WipingAllocator<std::uint8_t>> order(prime, prime + primeBytes);
  order[0] &= 0xfe;  // an odd prime minus one
  return Exponent(order.data(), primeBytes, ExponentKind::kSecret);
}

Limbs montgomery(const Modulus& modulus, const std::uint8_t* bytes, std::size_t sizeBytes) {
  Limbs result = loaded(bytes, sizeBytes, modulus.limbs());
  modulus.toMontgomery(result.data(), result.data());
  return result;
}

// quotient = value / divisor where the division is exact and the quotient has `limbs` limbs: from the lowest limb up,
// each limb of the quotient clears one limb of the value. value is overwritten.
void divideExactly(Limb* quotient, Limb* value, const Limb* divisor, Limb negatedInverseOfDivisor, std::size_t limbs) {
  for (std::size_t i = 0; i < limbs; i++) {
    const Limb negated = value[i] * negatedInverseOfDivisor;
    quotient[i] = negated;
    // Adding -q_i (modulo 2^64) times the divisor clears limb i; only limbs below `limbs` matter.
    addProductRow(value + i, divisor, limbs - i, negated);
  }
  // What was collected is -quotient modulo 2^(64 limbs): negate it.
  for (std::size_t i = 0; i < limbs; i++) quotient[i] = ~quotient[i];
  addSmall(quotient, 1, limbs);
}

}  // namespace

PrimeSide::PrimeSide(const PrimeSideInput& input, std::size_t primeBytes)
    : prime(loaded(input.prime, primeBytes, limbsForBytes(primeBytes)).data(), limbsForBytes(primeBytes)),
      squareValue(squared(input.prime, primeBytes)),
      square(squareValue.data(), squareValue.size()),
      order(orderOf(input.prime, primeBytes)),
      residueBase(montgomery(square, input.residueBase, 2 * primeBytes)),
      plaintextFactor(montgomery(prime, input.plaintextFactor, primeBytes)) {}

PrivateContext::PrivateContext(const std::uint8_t* n, std::size_t nBytes, const PrimeSideInput& p,
                               const PrimeSideInput& q, std::size_t primeBytes, const std::uint8_t* qInverse,
                               const std::uint8_t* qSquaredInverse)
    : primeBytes_(primeBytes),
      public_(n, nBytes),
      p_(p, primeBytes),
      q_(q, primeBytes),
      qInverse_(montgomery(p_.prime, qInverse, primeBytes)),
      qSquaredInverse_(montgomery(p_.square, qSquaredInverse, 2 * primeBytes)) {
  // p's side of decryption directly yields m q^-1 modulo p, which Garner's recombination starts from.
  p_.prime.product(p_.plaintextFactor.data(), p_.plaintextFactor.data(), qInverse_.data());
}

void PrivateContext::buildTables(std::size_t threads) {
  // The last step of encryption is a Montgomery product modulo n^2, which divides by its R. Multiplying that R into the
  // tables spares a product per encryption; so does (q^2)^-1, which recombination wants on p's side.
  const Modulus& modulus = *public_.modulus;
  Limbs factor(p_.square.limbs());
  p_.square.toMontgomeryWide(factor.data(), modulus.one(), modulus.limbs());
  p_.square.product(factor.data(), factor.data(), qSquaredInverse_.data());
  tableP_ = std::make_unique<FixedBaseTable>(p_.square, p_.residueBase.data(), factor.data(), primeBytes_, threads);
  q_.square.toMontgomeryWide(factor.data(), modulus.one(), modulus.limbs());
  tableQ_ = std::make_unique<FixedBaseTable>(q_.square, q_.residueBase.data(), factor.data(), primeBytes_, threads);
}

long long PrivateContext::encrypt(FlatInput plaintexts, FlatInput exponentsP, FlatInput exponentsQ,
                                  std::uint8_t* result, std::size_t resultBytes, std::size_t threads) {
  std::call_once(tablesOnce_, [&] { buildTables(threads); });
  const std::size_t limbs = p_.square.limbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(plaintexts.count, threads, kLanes);
  parallelChunks(plaintexts.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    Limbs powers(2 * kLanes * limbs);
    Limbs plaintext(public_.limbsOfN);
    Limbs difference(public_.limbsOfN);
    Limb* modP[kLanes];
    Limb* modQ[kLanes];
    const std::uint8_t* digitsP[kLanes];
    const std::uint8_t* digitsQ[kLanes];
    const std::size_t lanes = end - begin;
    for (std::size_t lane = 0; lane < lanes; lane++) {
      modP[lane] = &powers[lane * limbs];
      modQ[lane] = &powers[(kLanes + lane) * limbs];
      digitsP[lane] = exponentsP.element(begin + lane);
      digitsQ[lane] = exponentsQ.element(begin + lane);
    }
    tableP_->powers(modP, digitsP, lanes);
    tableQ_->powers(modQ, digitsQ, lanes);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      const std::size_t i = begin + lane;
      loadBytes(plaintext.data(), public_.limbsOfN, plaintexts.element(i), plaintexts.sizeBytes);
      const Limb below = subtractLimbs(difference.data(), plaintext.data(), public_.n.data(), public_.limbsOfN);
      if (below == 0) return bad.report(i);
      p_.square.fromMontgomery(modP[lane], modP[lane]);
      q_.square.fromMontgomery(modQ[lane], modQ[lane]);
      assemble(plaintext.data(), modP[lane], modQ[lane], result + i * resultBytes, resultBytes);
    }
  });
  return bad.index();
}

void PrivateContext::assemble(const Limb* plaintext, const Limb* modP, const Limb* modQ, std::uint8_t* result,
                              std::size_t resultBytes) const {
  const std::size_t limbs = p_.square.limbs();
  const std::size_t wide = public_.limbs();
  Limb quotient[kLimbsMax];
  Limb obfuscator[2 * kLimbsMax];
  Limb factor[2 * kLimbsMax];
  // Garner: x = x_q + q^2 ((x_p - x_q) (q^2)^-1 mod p^2); modP comes already multiplied by the inverse.
  p_.square.product(quotient, modQ, qSquaredInverse_.data());
  p_.square.subtract(quotient, modP, quotient);
  multiplyFull(obfuscator, quotient, q_.square.value(), limbs);
  addSmall(obfuscator + limbs, addLimbs(obfuscator, obfuscator, modQ, limbs), limbs);
  multiplyFull(factor, plaintext, public_.n.data(), public_.limbsOfN);
  addSmall(factor, 1, wide);
  public_.modulus->product(factor, factor, obfuscator);
  storeBytes(result, resultBytes, factor);
  wipe(quotient, sizeof quotient);
  wipe(obfuscator, sizeof obfuscator);
}

void PrivateContext::decryptSide(const PrimeSide& side, const Limb* const* ciphertexts, std::size_t lanes,
                                 Limb* const* results, bool* refused) const {
  const std::size_t limbs = side.square.limbs();
  const std::size_t primeLimbs = side.prime.limbs();
  Limbs raised(lanes * limbs);
  Limb* targets[kLanes];
  for (std::size_t lane = 0; lane < lanes; lane++) {
    targets[lane] = &raised[lane * limbs];
    side.square.toMontgomeryWide(targets[lane], ciphertexts[lane], public_.limbs());
  }
  powers(side.square, targets, targets, lanes, side.order);
  const Limb negatedInverseOfPrime = negatedInverse(side.prime.value()[0]);
  for (std::size_t lane = 0; lane < lanes; lane++) {
    Limb* value = targets[lane];
    side.square.fromMontgomery(value, value);
    // By Fermat the power is 1 modulo the prime, unless the ciphertext is a multiple of it; then it is 0.
    if (zeroMask(value, limbs) != 0) refused[lane] = true;
    subtractSmall(value, 1, limbs);
    divideExactly(results[lane], value, side.prime.value(), negatedInverseOfPrime, primeLimbs);
    side.prime.product(results[lane], results[lane], side.plaintextFactor.data());
  }
}

long long PrivateContext::decrypt(FlatInput ciphertexts, std::uint8_t* result, std::size_t resultBytes,
                                  std::size_t threads) const {
  const std::size_t wide = public_.limbs();
  const std::size_t primeLimbs = p_.prime.limbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(ciphertexts.count, threads, kLanes);
  parallelChunks(ciphertexts.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t lanes = end - begin;
    Limbs values(lanes * wide);
    Limbs residues(2 * kLanes * primeLimbs);
    Limbs plaintext(2 * primeLimbs);
    Limb* modP[kLanes];
    Limb* modQ[kLanes];
    const Limb* sources[kLanes];
    bool refused[kLanes] = {false};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      Limb* value = &values[lane * wide];
      loadBytes(value, wide, ciphertexts.element(begin + lane), ciphertexts.sizeBytes);
      if (isZero(value, wide) || compare(value, public_.modulus->value(), wide) >= 0) refused[lane] = true;
      sources[lane] = value;
      modP[lane] = &residues[lane * primeLimbs];
      modQ[lane] = &residues[(kLanes + lane) * primeLimbs];
    }
    decryptSide(p_, sources, lanes, modP, refused);
    decryptSide(q_, sources, lanes, modQ, refused);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if (refused[lane]) return bad.report(begin + lane);
      // Garner: m = m_q + q ((m_p - m_q) q^-1 mod p); modP holds m_p q^-1.
      Limb quotient[kLimbsMax];
      p_.prime.product(quotient, modQ[lane], qInverse_.data());
      p_.prime.subtract(quotient, modP[lane], quotient);
      multiplyFull(plaintext.data(), quotient, q_.prime.value(), primeLimbs);
      Limb* value = plaintext.data();
      addSmall(value + primeLimbs, addLimbs(value, value, modQ[lane], primeLimbs), primeLimbs);
      storeBytes(result + (begin + lane) * resultBytes, resultBytes, plaintext.data());
      wipe(quotient, sizeof quotient);
    }
  });
  return bad.index();
}

}  // namespace tandem
